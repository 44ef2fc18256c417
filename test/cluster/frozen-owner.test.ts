import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import type { Run, RunClient } from './run-client.ts';
import { commonStack } from './three-schedulers.ts';

const ANSWERS = 60;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  ({ cluster, client, witness } = await commonStack());
  await witness.settled(3);
});

function question(run: Run): string {
  assert.equal(run.status, 'waiting', run.run_id);
  return run.question?.id ?? '';
}

function asking(count: number): Promise<Run[]> {
  return Promise.all(Array.from({ length: count }, () => client.start('two-questions', {}, 10_000)));
}

clusterTest(
  'two equal answers to two successive questions both count',
  () => cluster,
  async () => {
    const [run] = await asking(1);
    assert.ok(run !== undefined);
    const first = question(run);
    assert.equal((await client.answer(run.run_id, { ok: true }, first)).status, 200);
    const second = question(await client.rest(run.run_id, first));
    assert.notEqual(second, first);
    // A late repeat of the first answer changes nothing.
    assert.equal((await client.get(run.run_id)).status, 'waiting');
    await client.answer(run.run_id, { ok: true }, second);
    assert.deepEqual((await client.rest(run.run_id, second)).result, { one: true, two: true });
  },
);

clusterTest(
  'an owner frozen while 60 answers are sent: all are accepted while it is frozen, and none is lost or taken twice',
  () => cluster,
  async (_, say) => {
    const runs = await asking(ANSWERS);
    const questions = runs.map(question);
    const beganMs = performance.now();
    cluster.freeze('run-scheduler-2');
    const tookMs = await Promise.all(
      runs.map(async (run, n) => {
        const { status } = await client.answer(run.run_id, { ok: n % 2 === 0 }, questions[n] ?? '');
        assert.equal(status, 200);
        return performance.now() - beganMs;
      }),
    );
    const longestMs = Math.max(...tookMs);
    say(
      `${tookMs.filter((ms) => ms > 1_000).length} answers took more than 1 s, the longest ${longestMs.toFixed(0)} ms`,
    );
    // The zombie comes back and finds that its shards are not its own any more.
    cluster.thaw('run-scheduler-2');
    const seconds = await Promise.all(
      runs.map(async (run, n) => question(await client.rest(run.run_id, questions[n]))),
    );
    await Promise.all(runs.map((run, n) => client.answer(run.run_id, { ok: true }, seconds[n] ?? '')));
    const ended = await Promise.all(runs.map((run, n) => client.rest(run.run_id, seconds[n])));
    assert.deepEqual(
      ended.map(({ result, attempts }) => ({ result, attempts })),
      runs.map((_, n) => ({ result: { one: n % 2 === 0, two: true }, attempts: 1 })),
    );
    await witness.agree();
  },
);
