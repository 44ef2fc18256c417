import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { LongWork } from './long-work.ts';
import { type ManySteps, manySteps } from './many-steps.ts';
import { allSteps, type Steps, settled } from './steps.ts';

/** Its time is what the works report; rests are over when the test says so. */
function held(others = true) {
  let nowMs = 0;
  const rests: { ms: number; end: () => void }[] = [];
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, end) {
      rests.push({ ms, end });
      return { cancel() {} };
    },
  };
  const work = new LongWork(clock, { sawOthersThan: () => others });
  const takes = (ms: number) => {
    nowMs += ms;
  };
  const endRests = async () => {
    for (let rest = rests.shift(); rest; rest = rests.shift()) {
      rest.end();
      await setImmediate();
    }
  };
  return { work, rests, takes, endRests };
}

const WORKS: Omit<ManySteps, 'count' | 'begin'> = {
  mayBegin: () => true,
  refused: () => assert.fail('none is refused'),
};

test('works that take long run one in a slice, with a rest for others after each', async () => {
  const { work, rests, takes, endRests } = held();
  const done: number[] = [];
  function* begin(n: number): Steps<void> {
    takes(11);
    done.push(n);
    yield;
  }
  const all = manySteps(work, 'a', { ...WORKS, count: 5, begin });
  assert.deepEqual([done, rests.map(({ ms }) => ms)], [[0], [44]]);
  rests.shift()?.end();
  assert.deepEqual([done, rests.map(({ ms }) => ms)], [[0, 1], [44]]);
  await endRests();
  await all;
  assert.deepEqual(done, [0, 1, 2, 3, 4]);
});

test('a work may pause between two of its steps; without other organizations there is no rest', async () => {
  const { work, rests, takes, endRests } = held(false);
  const order: string[] = [];
  function* begin(n: number): Steps<void> {
    for (const part of ['a', 'b']) {
      takes(9);
      order.push(`${n}${part}`);
      yield;
    }
  }
  const all = manySteps(work, 'a', { ...WORKS, count: 2, begin });
  assert.deepEqual([order, rests.map(({ ms }) => ms)], [['0a'], [0]]);
  await endRests();
  await all;
  assert.deepEqual(order, ['0a', '0b', '1a', '1b']);
});

test('while works wait, as many others begin as may be open; a failure reaches the work that waited for it', async () => {
  const { work, endRests } = held();
  const waits: { go: (value: number) => void; fail: (error: Error) => void }[] = [];
  const outcomes: string[] = [];
  function* begin(n: number): Steps<void> {
    try {
      const value = yield* settled(new Promise<number>((go, fail) => waits.push({ go, fail })));
      outcomes[n] = `${yield* settled(value + 1)}`;
    } catch (error) {
      outcomes[n] = (error as Error).message;
    }
  }
  const all = manySteps(work, 'a', { ...WORKS, count: 5, begin, mayBegin: (open) => open < 2 });
  await endRests();
  assert.equal(waits.length, 2);
  waits[1]?.go(1);
  await setImmediate();
  await endRests();
  assert.equal(waits.length, 3);
  waits[0]?.fail(new Error('no'));
  for (let n = 2; n < 5; n++) {
    await setImmediate();
    await endRests();
    waits[n]?.go(n);
  }
  await setImmediate();
  await endRests();
  await all;
  assert.deepEqual(outcomes, ['no', '2', '3', '4', '5']);
});

test('if the organization has too much waiting, works that have not begun are refused, and the rest complete', async () => {
  const { rests } = held();
  let answer = (_: string) => {};
  const ended: number[] = [];
  const refused: number[] = [];
  function* begin(n: number): Steps<void> {
    if (n === 0) yield* settled(new Promise((resolve) => (answer = resolve)));
    ended.push(n);
  }
  let full = false;
  const real = held();
  const run: LongWork['run'] = (orgId, bytes, steps) =>
    full ? Promise.reject(new ServiceError('rate_limited')) : real.work.run(orgId, bytes, steps);
  const works = { count: 3, begin, mayBegin: () => false, refused: (from: number) => refused.push(from) };
  const all = manySteps({ run }, 'a', works);
  await setImmediate();
  full = true;
  answer('');
  await all;
  assert.deepEqual([ended, refused, rests.length], [[0], [1], 0]);
});

test('steps that run in one go return their result, and throw their errors', async () => {
  function* steps(fails: boolean): Steps<number> {
    yield;
    try {
      yield* settled(Promise.reject(new Error('first')));
    } catch {
      if (fails) throw new Error('second');
    }
    return yield* settled(Promise.resolve(5));
  }
  assert.equal(await allSteps(steps(false)), 5);
  await assert.rejects(allSteps(steps(true)), /second/);
});
