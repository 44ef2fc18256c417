import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import { type Run, RunClient } from './run-client.ts';
import { SteadyLoad } from './steady-load.ts';

const PER_SECOND = 12;
const WAITING = 20;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;
let waiting: Run[];

before(async () => {
  cluster = await Cluster.start({ schedulers: 2, workers: 2 });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
  waiting = await Promise.all(Array.from({ length: WAITING }, () => client.start('two-questions', {}, 10_000)));
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
});

const faults: Readonly<Record<string, () => Promise<void>>> = {
  'Postgres killed': () => cluster.kill('postgres'),
  'NATS killed, its data lost': () => cluster.wipeNats(),
  'the gateway killed': () => cluster.kill('gateway-1'),
  'the method registry killed': () => cluster.kill('method-registry'),
  'the notifier killed': () => cluster.kill('notifier-1'),
};

for (const [fault, strike] of Object.entries(faults)) {
  clusterTest(
    `${fault} under a steady load: no acknowledged run is lost, and none runs twice`,
    () => cluster,
    async (_, say) => {
      const ledger = new Ledger(cluster, fault.replaceAll(/\W/g, '-'));
      const order = { method: 'two-steps', inputs: { ledger: ledger.path }, perSecond: PER_SECOND };
      await witness.settled(2);
      const load = new SteadyLoad(client, order);
      await until('the load runs', () => load.finished > PER_SECOND / 2);
      await strike();
      const finished = load.finished;
      await until('the load runs on', () => load.finished > finished + PER_SECOND);
      const report = await load.stop();
      say(
        `${report.runs.length} runs, median ${report.medianMs.toFixed(0)} ms, longest ${report.longestMs.toFixed(0)} ms`,
      );
      assert.deepEqual(report.violations, []);
      assert.deepEqual(
        report.runs.filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1),
        [],
      );
      const runIds = report.runs.map((run) => run.run_id);
      assert.deepEqual(ledger.otherThan('first second', runIds), []);
      await witness.agree();
    },
  );
}

clusterTest(
  'everything killed at once: acknowledged runs continue where they were, and waiting runs still take their answers',
  () => cluster,
  async (_, say) => {
    const ledger = new Ledger(cluster, 'everything');
    const before = await client.start('two-steps', { ledger: ledger.path }, 10_000);
    const beganMs = performance.now();
    await Promise.all(cluster.names().map((name) => cluster.kill(name)));
    const after_ = await client.start('two-steps', { ledger: ledger.path }, 10_000);
    assert.equal((await client.rest(after_.run_id)).status, 'succeeded');
    say(`${(performance.now() - beganMs).toFixed(0)} ms from the deaths to the end of the next run`);
    assert.equal((await client.get(before.run_id)).status, 'succeeded');
    const ended = await Promise.all(
      waiting.map(async ({ run_id, question }) => {
        const first = question?.id ?? '';
        assert.equal((await client.get(run_id)).question?.id, first);
        await client.answer(run_id, { ok: true }, first);
        const second = (await client.rest(run_id, first)).question?.id ?? '';
        await client.answer(run_id, { ok: false }, second);
        return client.rest(run_id, second);
      }),
    );
    assert.deepEqual(
      ended.map(({ result, attempts }) => ({ result, attempts })),
      waiting.map(() => ({ result: { one: true, two: false }, attempts: 1 })),
    );
    await witness.agree();
  },
);
