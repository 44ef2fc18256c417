import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { allSteps, type Steps, settled } from '../../turns/steps.ts';
import { KeyTurns } from './key-turns.ts';

/** Starts that end when the test says so: with a run, or refused. */
function startsOf(keys: readonly string[]) {
  const turns = new KeyTurns();
  const begun: number[] = [];
  const ends: ((hasRun: boolean) => void)[] = [];
  function* start(key: string, n: number): Steps<void> {
    const own = yield* turns.take(key);
    begun.push(n);
    const ended = new Promise<boolean>((resolve) => {
      ends[n] = resolve;
    });
    own.hasRun ||= yield* settled<boolean>(ended);
    own.leave();
  }
  const all = Promise.all(keys.map((key, n) => allSteps(start(key, n))));
  return { begun, ends, all };
}

test('starts with one key wait for the first, and go together once it has the run', async () => {
  const { begun, ends, all } = startsOf(['a', 'a', 'b', 'a']);
  await turn();
  assert.deepEqual(begun, [0, 2]);
  ends[0]?.(true);
  await turn();
  assert.deepEqual(begun, [0, 2, 1, 3]);
  for (const end of ends) end(true);
  await all;
});

test('after a start that was refused the next one with its key has its turn', async () => {
  const { begun, ends, all } = startsOf(['a', 'a', 'a', 'a']);
  await turn();
  ends[0]?.(false);
  await turn();
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(true);
  await turn();
  assert.deepEqual(begun, [0, 1, 2, 3]);
  for (const end of ends) end(true);
  await all;
});
