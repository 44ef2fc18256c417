import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Ticks } from './node-ticks.ts';

test('each tick repeats at its own pace, from the start to the stop', () => {
  const clock = new ManualClock();
  const ticks = new Ticks(clock);
  const came: string[] = [];
  ticks.every(1_000, () => came.push('often'));
  ticks.every(2_500, () => came.push('seldom'));
  clock.forward(10_000);
  assert.deepEqual(came, []);
  ticks.start();
  for (let i = 0; i < 10; i++) clock.forward(500);
  assert.deepEqual([came.filter((tick) => tick === 'often').length, came.length], [5, 7]);
  ticks.stop();
  clock.forward(10_000);
  assert.equal(came.length, 7);
});

test('a tick gets the time by which it is late', () => {
  const clock = new ManualClock();
  const ticks = new Ticks(clock);
  const late: number[] = [];
  ticks.every(100, (lateMs) => late.push(lateMs));
  ticks.start();
  clock.forward(100);
  clock.forward(5_100);
  assert.deepEqual(late, [0, 5_000]);
});

test('a tick that stops the ticks is the last', () => {
  const clock = new ManualClock();
  const ticks = new Ticks(clock);
  let came = 0;
  ticks.every(100, () => {
    came++;
    ticks.stop();
  });
  ticks.start();
  for (let i = 0; i < 5; i++) clock.forward(100);
  assert.equal(came, 1);
});

test('ticks of several intervals come together, however late one of them was', () => {
  const clock = new ManualClock();
  const ticks = new Ticks(clock);
  const cameAtMs = new Set<number>();
  for (const everyMs of [500, 1_000, 2_500, 5_000]) ticks.every(everyMs, () => cameAtMs.add(clock.monotonicMs()));
  clock.forward(123);
  ticks.start();
  clock.forward(1_017);
  for (let i = 0; i < 10_000; i++) clock.forward(1);
  const wakes = [...cameAtMs].filter((atMs) => atMs > 1_002_000);
  assert.ok(wakes.length > 0 && wakes.every((atMs) => atMs % 500 === 0), `${wakes}`);
});
