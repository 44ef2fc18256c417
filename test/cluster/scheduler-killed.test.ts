import assert from 'node:assert/strict';
import { before } from 'node:test';
import { elapse, until } from '../harness/until.ts';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import type { RunClient } from './run-client.ts';
import { type LoadReport, SteadyLoad } from './steady-load.ts';
import { commonStack } from './three-schedulers.ts';

const PER_SECOND = 15;
const ROUND_MS = 3_000;
/** As it is without a setting. */
const LEASE_MS = 60_000;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  ({ cluster, client, witness } = await commonStack());
});

/** No worker was lost, so every step ran once. */
function assertUnharmed(report: LoadReport, ledger: Ledger): void {
  assert.deepEqual(report.violations, []);
  assert.deepEqual(
    report.runs.filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1),
    [],
  );
  const runIds = report.runs.map((run) => run.run_id);
  assert.deepEqual(ledger.otherThan('first second', runIds), []);
}

clusterTest(
  'kill -9 of a scheduler under a steady load loses nothing, and no client waits for a lease to end',
  () => cluster,
  async (_, say) => {
    const ledger = new Ledger(cluster, 'killed');
    const order = { method: 'two-steps', inputs: { ledger: ledger.path }, perSecond: PER_SECOND };
    await witness.settled(3);
    const load = new SteadyLoad(client, order);
    for (const name of ['run-scheduler-1', 'run-scheduler-3']) {
      const finished = load.finished;
      await until('the load runs', () => load.finished > finished + PER_SECOND);
      await cluster.kill(name);
      await witness.settled(3);
    }
    const report = await load.stop();
    say(
      `${report.runs.length} runs, median ${report.medianMs.toFixed(0)} ms, longest ${report.longestMs.toFixed(0)} ms`,
    );
    assertUnharmed(report, ledger);
    assert.ok(report.longestMs < LEASE_MS / 2, `the longest wait was ${report.longestMs} ms`);
    await witness.agree();
  },
);

clusterTest(
  'nodes that leave and join every 3 s under load cost no run an attempt, and no client waits for a lease to end',
  () => cluster,
  async (_, say) => {
    const ledger = new Ledger(cluster, 'shuffled');
    await witness.settled(3);
    const order = { method: 'two-steps', inputs: { ledger: ledger.path }, perSecond: PER_SECOND };
    const load = new SteadyLoad(client, order);
    for (const name of ['run-scheduler-2', 'run-scheduler-1', 'run-scheduler-3']) {
      await Promise.all([cluster.kill(name, 'SIGTERM'), elapse(ROUND_MS)]);
    }
    await witness.settled(3);
    const report = await load.stop();
    say(
      `${report.runs.length} runs, median ${report.medianMs.toFixed(0)} ms, longest ${report.longestMs.toFixed(0)} ms`,
    );
    assertUnharmed(report, ledger);
    assert.ok(report.longestMs < LEASE_MS / 2, `the longest wait was ${report.longestMs} ms`);
    await witness.agree();
  },
);

clusterTest(
  'eight starts of 256 KiB in one turn are all taken',
  () => cluster,
  async () => {
    const text = 'x'.repeat(255 * 1024);
    const runs = await Promise.all(Array.from({ length: 8 }, () => client.start('measure', { text }, 10_000)));
    assert.deepEqual(
      runs.map(({ status, result }) => [status, result]),
      runs.map(() => ['succeeded', { length: text.length }]),
    );
  },
);

clusterTest(
  'the audit log gets the answer of a deadline once, also if the node dies before the registry has it',
  () => cluster,
  async () => {
    await witness.settled(3);
    const run = await client.start('answers-itself', {}, 10_000);
    const answers = () => witness.sql<{ unrecorded: boolean }[]>`
      select unrecorded_at_ms is not null as unrecorded from scheduler.questions
      where run_id = ${run.run_id} and state = 'answered'`;
    cluster.freeze('method-registry');
    const [left] = await until('the deadline has answered', async () => {
      const rows = await answers();
      return rows.length > 0 && rows;
    });
    assert.equal(left?.unrecorded, true);
    await Promise.all(cluster.names('run-scheduler').map((name) => cluster.kill(name)));
    // A registry that only continued might find the line among what it has received.
    await cluster.kill('method-registry');
    await until('the answer is recorded', async () => (await answers())[0]?.unrecorded === false);
    const lines = await witness.sql`
      select doer_id, action, after::jsonb->>'channel' as channel from registry.audit where target_id = ${run.run_id}`;
    assert.deepEqual([...lines], [{ doer_id: 'deadline', action: 'run.answer', channel: 'timeout' }]);
    assert.equal((await client.rest(run.run_id)).status, 'succeeded');
    await witness.settled(3);
  },
);
