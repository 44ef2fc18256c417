import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { ManualClock } from '../manual-clock.fixture.ts';
import { ClockLook, DatabaseClock } from '../store/database-clock.ts';

test('asks the database for its time while no commit returns it, one request at a time', async () => {
  const clock = new ManualClock();
  const databaseClock = new DatabaseClock(clock);
  let asked = 0;
  let answer: (nowMs: number) => void = () => {};
  const ask = () => {
    asked++;
    return new Promise<number>((resolve) => {
      answer = resolve;
    });
  };
  const look = new ClockLook({ databaseClock, ask, logger: silentLogger });
  databaseClock.observe(1_000_000);
  await look.look();
  assert.equal(asked, 0);
  clock.forward(2_000);
  const first = look.look();
  await look.look();
  assert.equal(asked, 1);
  answer(9_000_000);
  await first;
  assert.equal(databaseClock.nowMs(), 9_000_000);
});

test('retries after a request that fails', async () => {
  const clock = new ManualClock();
  const databaseClock = new DatabaseClock(clock);
  let asked = 0;
  const ask = async () => {
    if (asked++ === 0) throw new Error('away');
    return 5_000;
  };
  const look = new ClockLook({ databaseClock, ask, logger: silentLogger });
  await look.look();
  await look.look();
  assert.equal(databaseClock.nowMs(), 5_000);
});
