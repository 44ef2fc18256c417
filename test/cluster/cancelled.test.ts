import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Gate, Ledger } from './ledger.ts';
import { RunClient } from './run-client.ts';

/** Rare, so that nothing is cancelled because a worker reported for another reason. */
const HEARTBEAT_MS = 120_000;
const LEASE_MS = 2 * HEARTBEAT_MS;
const PROMPT_MS = 20_000;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  // One place: a second run stays queued while the first one is held.
  cluster = await Cluster.start({
    sharesPostgres: true,
    schedulers: 2,
    concurrency: 1,
    env: { WORKER_LEASE_MS: String(LEASE_MS), HEARTBEAT_MS: String(HEARTBEAT_MS) },
  });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
});

async function heldRun(name: string, method = 'held-open', steps = 'before held') {
  const ledger = new Ledger(cluster, name);
  const gate = new Gate(cluster, name);
  const { run_id: runId } = await client.start(method, { ledger: ledger.path, gate: gate.path });
  await until(`${name} is held`, () => ledger.stepsOf(runId) === steps);
  return { runId, ledger, gate };
}

clusterTest(
  'a running run is marked with 202 and cancelled long before its next heartbeat, a queued one at once',
  () => cluster,
  async (_, say) => {
    const { runId, ledger, gate } = await heldRun('running');
    const queued = await client.start('held-open', { ledger: ledger.path, gate: gate.path });

    const gone = await client.cancel(queued.run_id);
    assert.deepEqual([gone.status, gone.run.status], [200, 'cancelled']);

    const askedMs = performance.now();
    const marked = await client.cancel(runId);
    assert.deepEqual([marked.status, marked.run.status, marked.run.cancel_requested], [202, 'running', true]);
    assert.equal((await client.rest(runId)).status, 'cancelled');
    const tookMs = performance.now() - askedMs;
    say(`cancelled after ${tookMs.toFixed(0)} ms`);
    assert.ok(tookMs < PROMPT_MS, `it took ${tookMs} ms`);
    assert.deepEqual((await client.cancel(runId)).status, 200);

    // The place is free, and nothing of the cancelled runs runs any more.
    gate.open();
    const next = await client.start('two-steps', { ledger: ledger.path }, 10_000);
    assert.equal(next.status, 'succeeded');
    assert.equal(ledger.stepsOf(runId), 'before held');
    assert.equal(ledger.stepsOf(queued.run_id), '');
    await assert.rejects(client.cancel(next.run_id), /409/);
  },
);

clusterTest(
  'a run that cleans up after a failure is cancelled like any other, and nothing of its cleanup follows',
  () => cluster,
  async () => {
    const { runId, ledger } = await heldRun('cleaning', 'held-cleanup', 'undo');
    const marked = await client.cancel(runId);
    assert.deepEqual([marked.status, marked.run.status], [202, 'running']);
    assert.equal((await client.rest(runId)).status, 'cancelled');
    const next = await client.start('two-steps', { ledger: ledger.path }, 10_000);
    assert.equal(next.status, 'succeeded');
    assert.equal(ledger.stepsOf(runId), 'undo');
  },
);

clusterTest(
  'a waiting run is cancelled at once and takes no answer any more',
  () => cluster,
  async () => {
    const run = await client.start('two-questions', {}, 10_000);
    assert.equal(run.status, 'waiting');
    const cancelled = await client.cancel(run.run_id);
    assert.deepEqual([cancelled.status, cancelled.run.status], [200, 'cancelled']);
    await assert.rejects(client.answer(run.run_id, { ok: true }, run.question?.id ?? ''), /409/);
    await witness.agree();
  },
);
