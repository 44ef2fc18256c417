import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import { DatabaseClock } from './database-clock.ts';

const DATABASE_MS = 1_790_000_000_000;

test("the database's time advances between its replies, by monotonic time", () => {
  const clock = new ManualClock();
  const database = new DatabaseClock(clock);
  database.observe(DATABASE_MS);
  clock.forward(1_234);
  assert.equal(database.nowMs(), DATABASE_MS + 1_234);
});

test('a reply that took long to arrive does not set it back', () => {
  const clock = new ManualClock();
  const database = new DatabaseClock(clock);
  database.observe(DATABASE_MS);
  clock.forward(1_000);
  database.observe(DATABASE_MS + 200);
  assert.equal(database.nowMs(), DATABASE_MS + 1_000);
  database.observe(DATABASE_MS + 1_005);
  assert.equal(database.nowMs(), DATABASE_MS + 1_005);
});

test('a jump in either direction is reported; a delayed reply is not a jump', () => {
  const clock = new ManualClock();
  const database = new DatabaseClock(clock);
  let jumps = 0;
  database.onJump(() => jumps++);
  for (const ms of [0, 900, 100, 3_600_000, 0]) database.observe(DATABASE_MS + ms);
  assert.equal(jumps, 2);
});

test("follows a server's clock that is set back", () => {
  const clock = new ManualClock();
  const database = new DatabaseClock(clock);
  database.observe(DATABASE_MS);
  database.observe(DATABASE_MS - 5_000);
  assert.equal(database.nowMs(), DATABASE_MS - 5_000);
});
