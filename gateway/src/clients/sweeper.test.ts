import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { Sweeper } from './sweeper.ts';

test('a sweep repeats while there is work for it, and an idle sweeper has no timer', () => {
  const due: (() => void)[] = [];
  const clock = {
    ...systemClock,
    after: (_: number, run: () => void) => {
      due.push(run);
      return { cancel: () => due.splice(due.indexOf(run), 1) };
    },
  };
  const pass = () => {
    for (const run of due.splice(0)) run();
  };
  let left = 0;
  let sweeps = 0;
  const sweeper = new Sweeper(clock, 100, () => {
    sweeps++;
    return --left > 0;
  });
  assert.equal(due.length, 0);
  left = 3;
  sweeper.wake();
  sweeper.wake();
  for (let n = 0; n < 20; n++) pass();
  assert.deepEqual([sweeps, due.length], [3, 0]);
  left = 3;
  sweeper.wake();
  pass();
  sweeper.stop();
  sweeper.wake();
  assert.deepEqual([sweeps, due.length], [4, 0]);
});
