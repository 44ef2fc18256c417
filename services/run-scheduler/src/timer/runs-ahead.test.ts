import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { RunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { ManualClock } from '../manual-clock.fixture.ts';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import type { DueQuestion } from '../store/run-store.ts';
import { RunsAhead } from './runs-ahead.ts';

describe('runs that are read before their deadlines', () => {
  let clock: ManualClock;
  let statements: string[][];
  let epoch: number | null;
  let resident: string[];
  let arrive: (() => void)[] | null;
  let failing: boolean;
  let ahead: RunsAhead;

  beforeEach(() => {
    clock = new ManualClock();
    const databaseClock = new DatabaseClock(clock);
    databaseClock.observe(clock.wallMs());
    [statements, epoch, resident, arrive, failing] = [[], 1, [], null, false];
    ahead = new RunsAhead({
      async load(runIds) {
        statements.push([...runIds]);
        if (failing) throw new Error('no database');
        if (arrive !== null) await new Promise<void>((resolve) => arrive?.push(resolve));
        return new Map(runIds.map((runId) => [runId, runOf(runId)]));
      },
      isResident: ({ runId }) => resident.includes(runId),
      epochOf: () => epoch,
      databaseClock,
      clock,
      logger: silentLogger,
    });
  });

  const runOf = (runId: RunId): Run => ({ ...runs.sleeping, facts: { ...runs.sleeping.facts, runId } });
  const settle = () => new Promise(setImmediate);

  function dueIn(ms: number, runId = 'run_1', bytes = 400): DueQuestion {
    return {
      runId: runId as RunId,
      orgId: 'org_a' as const,
      shard: 0,
      questionId: '',
      wakeAtMs: clock.wallMs() + ms,
      bytes,
    };
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      clock.forward(10);
      await settle();
    }
  }

  test('are read five seconds before, and returned once', async () => {
    const question = dueIn(60_000);
    ahead.add(question);
    await pass(54_900);
    assert.deepEqual(statements, []);
    await pass(200);
    assert.deepEqual(statements, [['run_1']]);
    assert.deepEqual(ahead.take(question), runOf('run_1'));
    assert.equal(ahead.take(question), undefined);
  });

  test('are read 256 at a time', async () => {
    const questions = Array.from({ length: 600 }, (_, n) => dueIn(3_000, `run_${n}`));
    for (const question of questions) ahead.add(question);
    await pass(500);
    assert.deepEqual(
      statements.map((runIds) => runIds.length),
      [256, 256, 88],
    );
    assert.ok(questions.every((question) => ahead.take(question) !== undefined));
  });

  test('are not read if an actor holds them, if they are due before the read ends, or if their shard is gone', async () => {
    resident = ['run_1'];
    for (const question of [dueIn(3_000), dueIn(400, 'run_2')]) ahead.add(question);
    await pass(100);
    epoch = null;
    ahead.add(dueIn(3_000, 'run_3'));
    await pass(100);
    assert.deepEqual(statements, []);
  });

  test('are not returned after a change, even one during the read, or one that another node may have made', async () => {
    const [changing, changed, taken] = [dueIn(3_000), dueIn(3_000, 'run_2'), dueIn(3_000, 'run_3')];
    for (const question of [changing, changed, taken]) ahead.add(question);
    arrive = [];
    await pass(10);
    ahead.drop('run_1');
    arrive[0]?.();
    await settle();
    ahead.drop('run_2');
    epoch = 2;
    assert.deepEqual(
      [changing, changed, taken].map((question) => ahead.take(question)),
      [undefined, undefined, undefined],
    );
    assert.equal(statements.length, 1);
  });

  test('take 8 MiB at most, except for the last one; more are read when some are gone', async () => {
    const questions = Array.from({ length: 6 }, (_, n) => dueIn(4_000, `run_${n}`, 3 << 20));
    for (const question of questions) ahead.add(question);
    await pass(1_000);
    assert.equal(statements.flat().length, 3);
    for (const runId of statements.flat()) ahead.drop(runId as RunId);
    await pass(500);
    assert.deepEqual(statements.flat().sort(), questions.map(({ runId }) => runId).sort());
  });

  test('that cannot be read are left to their actors, and later ones are read', async () => {
    const [first, second] = [dueIn(3_000), dueIn(7_000, 'run_2')];
    for (const question of [first, second]) ahead.add(question);
    failing = true;
    await pass(100);
    failing = false;
    await pass(2_000);
    assert.deepEqual([ahead.take(first), ahead.take(second)?.facts.runId], [undefined, 'run_2']);
  });

  test('are removed at a stop', async () => {
    const [first, second] = [dueIn(3_000), dueIn(30_000, 'run_2')];
    for (const question of [first, second]) ahead.add(question);
    await pass(100);
    ahead.stop();
    await pass(30_000);
    assert.deepEqual([statements, ahead.take(first)], [[['run_1']], undefined]);
  });
});
