import assert from 'node:assert/strict';
import { before } from 'node:test';
import { until } from '../harness/until.ts';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Gate, Ledger } from './ledger.ts';
import type { Run, RunClient } from './run-client.ts';
import { commonStack, DRAIN_MS, LEASE_MS } from './short-leases.ts';

/** A lease, and the start of a worker on a busy machine. */
const ELSEWHERE_MS = 180_000;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  const common = await commonStack();
  await common.startNats();
  ({ cluster, client, witness } = common);
});

/** A run in the middle of the step `heldStep`, and how to find the worker it is at. */
async function heldRun(name: string, method = 'held-open', heldStep = 'held') {
  const ledger = new Ledger(cluster, name);
  const gate = new Gate(cluster, name);
  const { run_id: runId } = await client.start(method, { ledger: ledger.path, gate: gate.path });
  const heldTimes = (times: number) =>
    until(
      `${name} is held for the time no. ${times}`,
      () => {
        const held = ledger.executions(runId).filter(({ step }) => step === heldStep);
        return held.length === times && held.at(-1);
      },
      ELSEWHERE_MS,
    );
  const workerName = async (times: number) => {
    const { workerPid } = await heldTimes(times);
    return cluster.nameOf(workerPid) ?? assert.fail(`no worker has the process id ${workerPid}`);
  };
  return { runId, ledger, gate, workerName };
}

function assertRun(run: Run, status: Run['status'], attempts: number): void {
  assert.deepEqual([run.status, run.attempts], [status, attempts], JSON.stringify(run));
}

clusterTest(
  'a worker that is asked to stop gives its run back: it continues elsewhere at once, in the same attempt',
  () => cluster,
  async (_, say) => {
    const { runId, ledger, gate, workerName } = await heldRun('drained');
    const name = await workerName(1);
    const toldMs = performance.now();
    const stopping = cluster.kill(name, 'SIGTERM');
    await workerName(2);
    const tookMs = performance.now() - toldMs;
    say(`elsewhere after ${tookMs.toFixed(0)} ms, of which the step had ${DRAIN_MS}`);
    gate.open();
    assertRun(await client.rest(runId), 'succeeded', 1);
    assert.equal(ledger.stepsOf(runId), 'before held held after');
    await stopping;
  },
);

clusterTest(
  'a worker killed in the middle of a step: the run continues in another one, finished steps kept, as attempt 2',
  () => cluster,
  async (_, say) => {
    const { runId, ledger, gate, workerName } = await heldRun('killed');
    await cluster.kill(await workerName(1));
    const killedMs = performance.now();
    await workerName(2);
    say(
      `claimed again ${(performance.now() - killedMs).toFixed(0)} ms after the death, with a lease of ${LEASE_MS} ms`,
    );
    gate.open();
    assertRun(await client.rest(runId), 'succeeded', 2);
    assert.equal(ledger.stepsOf(runId), 'before held held after');
  },
);

clusterTest(
  'a run that loses three workers has failed with attempts_exhausted, and a fourth one cleans up',
  () => cluster,
  async () => {
    const held = await heldRun('exhausted');
    const cleaning = await heldRun('cleaning', 'held-cleanup', 'undo');
    for (const attempt of [1, 2, 3]) {
      const workers = new Set([await held.workerName(attempt), await cleaning.workerName(attempt)]);
      await Promise.all([...workers].map((name) => cluster.kill(name)));
    }
    const run = await client.rest(held.runId);
    assertRun(run, 'failed', 3);
    assert.deepEqual([run.error?.code, run.error?.kind], ['attempts_exhausted', 'worker_lost']);
    assert.equal(held.ledger.stepsOf(held.runId), 'before held held held undo');

    // The step of the cleanup that had three workers gets no other one; what follows it runs.
    const cleaned = await client.rest(cleaning.runId);
    assertRun(cleaned, 'failed', 3);
    assert.deepEqual([cleaned.error?.code, cleaned.error?.kind], ['step_failed', 'exception']);
    assert.equal(cleaning.ledger.stepsOf(cleaning.runId), 'undo undo undo tidy');
    const statusOf = (path: string) => cleaned.steps.find(({ name }) => name === path)?.status;
    assert.deepEqual([statusOf('on_failure/undo'), statusOf('finally/tidy')], ['failed', 'succeeded']);
    await witness.agree();
  },
);

clusterTest(
  'a running run whose worker is dead is cancelled when its lease ends, and not claimed again',
  () => cluster,
  async (_, say) => {
    const { runId, ledger, workerName } = await heldRun('cancelled');
    const name = await workerName(1);
    // The lease runs from the last heartbeat, however long the death takes to be seen here.
    const killedMs = performance.now();
    await cluster.kill(name);
    assert.equal((await client.cancel(runId)).status, 202);
    const run = await client.rest(runId);
    const tookMs = performance.now() - killedMs;
    say(`cancelled after ${tookMs.toFixed(0)} ms, with a lease of ${LEASE_MS} ms`);
    assert.ok(tookMs > LEASE_MS / 4, `it took only ${tookMs} ms, while the worker might still have been at work`);
    assertRun(run, 'cancelled', 1);
    assert.equal(ledger.stepsOf(runId), 'before held');
    await witness.agree();
  },
);

clusterTest(
  'a question whose deadline passes while no worker is connected: the first one that comes cleans up',
  () => cluster,
  async () => {
    const ledger = new Ledger(cluster, 'unanswered');
    const asked = await client.start('unanswered', { ledger: ledger.path }, 10_000);
    assertRun(asked, 'waiting', 1);
    const workers = cluster.names('worker-');
    try {
      for (const name of workers) cluster.freeze(name);
      const left = await until(
        'the run is queued and no worker is there',
        async () => {
          const run = await client.get(asked.run_id);
          return run.queued_reason === 'no_worker' && run;
        },
        ELSEWHERE_MS,
      );
      assert.deepEqual([left.status, left.ending?.code], ['queued', 'no_answer']);
      assert.equal(ledger.stepsOf(asked.run_id), '');
    } finally {
      for (const name of workers) cluster.thaw(name);
    }
    const run = await client.rest(asked.run_id, asked.question?.id);
    assertRun(run, 'failed', 1);
    assert.deepEqual([run.error?.code, run.error?.kind], ['no_answer', 'timeout']);
    assert.equal(ledger.stepsOf(asked.run_id), 'undo-timeout tidy');
  },
);

clusterTest(
  'a worker frozen for longer than its lease finds its run gone, changes nothing and stops it',
  () => cluster,
  async () => {
    const { runId, ledger, gate, workerName } = await heldRun('zombie');
    const name = await workerName(1);
    cluster.freeze(name);
    await workerName(2);
    // Both finish the step now; only the second one is believed.
    gate.open();
    assertRun(await client.rest(runId), 'succeeded', 2);
    cluster.thaw(name);
    // It works again, which is after it has heard of its loss.
    const next = await Promise.all(
      Array.from({ length: 40 }, () => client.start('two-steps', { ledger: ledger.path }, 10_000)),
    );
    assert.deepEqual(
      next.filter(({ status }) => status !== 'succeeded'),
      [],
    );
    assertRun(await client.get(runId), 'succeeded', 2);
    assert.equal(ledger.stepsOf(runId), 'before held held after');
    await witness.agree();
  },
);

clusterTest(
  'a file saved before a question is there for the step after it, on another worker',
  () => cluster,
  async () => {
    const ledger = new Ledger(cluster, 'report');
    const asked = await client.start('report', { text: 'all is well', ledger: ledger.path }, 10_000);
    assertRun(asked, 'waiting', 1);
    const [written] = ledger.executions(asked.run_id);
    await cluster.kill(cluster.nameOf(written?.workerPid ?? 0) ?? '');
    const question = asked.question?.id ?? '';
    await client.answer(asked.run_id, { ok: true }, question);
    const run = await client.rest(asked.run_id, question);
    assertRun(run, 'succeeded', 1);
    assert.deepEqual(run.result, { text: 'all is well' });
    const [, read] = ledger.executions(asked.run_id);
    assert.equal(ledger.stepsOf(asked.run_id), 'write read');
    assert.notEqual(read?.workerPid, written?.workerPid);
  },
);
