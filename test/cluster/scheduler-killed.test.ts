import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import { RunClient } from './run-client.ts';
import { SteadyLoad } from './steady-load.ts';

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  cluster = await Cluster.start({ schedulers: 3, workers: 2 });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
});

clusterTest(
  'kill -9 of a scheduler under a steady load loses nothing, and no client waits 5 s',
  () => cluster,
  async () => {
    const ledger = new Ledger(cluster, 'killed');
    const load = new SteadyLoad(client, { method: 'two-steps', inputs: { ledger: ledger.path }, perSecond: 40 });
    await until('the load runs', () => load.finished > 60);
    for (const name of ['run-scheduler-1', 'run-scheduler-3']) {
      const pid = cluster.pidOf(name);
      await cluster.kill(name);
      await cluster.restarted(name, pid);
      const finished = load.finished;
      await until('the load runs on', () => load.finished > finished + 120, 20_000);
    }
    const report = await load.stop();
    console.log(`  ${report.runs.length} runs, median ${report.medianMs.toFixed(0)} ms, longest ${report.longestMs.toFixed(0)} ms`);
    assert.deepEqual(report.violations, []);
    assert.deepEqual(report.runs.filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1), []);
    assert.deepEqual(ledger.otherThan('first second', report.runs.map((run) => run.run_id)), []);
    assert.ok(report.longestMs < 5_000, `the longest wait was ${report.longestMs} ms`);
    await witness.agree();
  },
);
