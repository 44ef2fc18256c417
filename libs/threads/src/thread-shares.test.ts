import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { ThreadShares } from './thread-pool.ts';

test('half a second is free, time beyond it is paid at a quarter, and others pay nothing', () => {
  let nowMs = 0;
  const shares = new ThreadShares({ ...systemClock, monotonicMs: () => nowMs });
  shares.used('a', 500);
  equal(shares.waitMs('a'), 0);
  shares.used('a', 100);
  deepEqual([shares.waitMs('a'), shares.waitMs('b')], [400, 0]);
  nowMs += 400;
  equal(shares.waitMs('a'), 0);
  let used = 0;
  const untilMs = nowMs + 10_000;
  while (nowMs < untilMs) {
    shares.used('a', 70);
    used += 70;
    nowMs += 70 + shares.waitMs('a');
  }
  equal(Math.abs(used / 10_000 - 0.25) < 0.02, true, `${used} ms of 10 s`);
  nowMs += 2_000;
  shares.used('a', 500);
  equal(shares.waitMs('a'), 0);
});
