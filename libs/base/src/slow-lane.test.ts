import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowLane } from './slow-lane.ts';

function laneOfTurnedClock() {
  let nowMs = 0;
  const timers: { atMs: number; run: () => void }[] = [];
  const clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs: number, run: () => void) {
      timers.push({ atMs: nowMs + delayMs, run });
      return { cancel() {} };
    },
  };
  const turnTo = (ms: number) => {
    nowMs = ms;
    while (timers[0] !== undefined && timers[0].atMs <= nowMs) timers.shift()?.run();
  };
  return { lane: new SlowLane(clock), turnTo };
}

test('a hundred pass at once, further ones a second later, and those of others at once', () => {
  const { lane, turnTo } = laneOfTurnedClock();
  const gone = { a: 0, b: 0 };
  const pass = (who: 'a' | 'b', times: number) => {
    for (let n = 0; n < times; n++) lane.pass(who, () => void gone[who]++);
  };
  pass('a', 150);
  pass('b', 1);
  assert.deepEqual(gone, { a: 100, b: 1 });
  turnTo(999);
  assert.equal(gone.a, 100);
  turnTo(1_000);
  assert.equal(gone.a, 150);
});

test('at most 10,000 wait at a time', () => {
  const { lane, turnTo } = laneOfTurnedClock();
  let gone = 0;
  for (let n = 0; n < 10_200; n++) lane.pass('a', () => void gone++);
  assert.equal(gone, 200);
  turnTo(1_000);
  assert.equal(gone, 10_200);
});
