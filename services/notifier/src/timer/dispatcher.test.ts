import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { SendSlots } from './send-slots.ts';
import { TryRecorder } from './try-recorder.ts';

/** A dispatcher without deliveries, and a clock that the test turns. */
function turnedDispatcher(fields: Pick<DispatcherOptions, 'claim'> & Partial<DispatcherOptions>) {
  const turned = { nowMs: 0, timers: new Map<() => void, number>() };
  const clock: Clock = {
    wallMs: () => turned.nowMs,
    monotonicMs: () => turned.nowMs,
    after(delayMs, run) {
      turned.timers.set(run, turned.nowMs + delayMs);
      return { cancel: () => void turned.timers.delete(run) };
    },
  };
  const dispatcher = new Dispatcher({
    reach: async () => {},
    send: () => Promise.reject(new Error('nothing is claimed')),
    recorder: new TryRecorder(async () => new Set(), clock, silentLogger),
    slots: new SendSlots({ sendsMax: 4, bytesMax: 1 << 20, perHostMax: 1, mailsMax: 1 }),
    clock,
    random: () => 0.5,
    logger: silentLogger,
    retryMs: () => [1],
    claimMs: 20_000,
    stopGraceMs: 1,
    ...fields,
  });
  const turns = async () => {
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Runs the timers of that time, one after the other. */
  const pass = async (ms: number) => {
    const untilMs = turned.nowMs + ms;
    for (;;) {
      const [next] = [...turned.timers].filter(([, atMs]) => atMs <= untilMs).sort(([, a], [, b]) => a - b);
      if (next === undefined) break;
      turned.timers.delete(next[0]);
      turned.nowMs = next[1];
      next[0]();
      await turns();
    }
    turned.nowMs = untilMs;
  };
  return { dispatcher, turned, turns, pass };
}

test('after an outage in which claims may have lapsed, results are written before anything is claimed', async () => {
  let away = false;
  let claims = 0;
  const reply = () => (away ? Promise.reject(new Error('no database')) : Promise.resolve());
  const { dispatcher, turns, pass } = turnedDispatcher({
    reach: reply,
    async claim() {
      await reply();
      claims++;
      return { claimed: [], contended: false, more: false, nextDueMs: null };
    },
  });
  dispatcher.start();
  await turns();
  away = true;
  await pass(30_000);
  const before = claims;
  away = false;
  await pass(1_000);
  // As at the end of a send whose result was written.
  dispatcher.wake();
  await turns();
  assert.equal(claims, before, 'it waits for the results of others');
  await pass(3_000);
  assert.ok(claims > before);
  const again = claims;
  away = true;
  await pass(4_500);
  away = false;
  await pass(1_100);
  assert.ok(claims > again, 'after a short outage it claims at once');
});

test('new deliveries of a full host cause few claims, and one after a pause causes a claim at once', async () => {
  let claims = 0;
  const { dispatcher, turned, turns } = turnedDispatcher({
    async claim() {
      claims++;
      return { claimed: [], contended: false, more: false, nextDueMs: null };
    },
  });
  dispatcher.stored();
  await turns();
  for (let n = 0; n < 30; n++) {
    turned.nowMs++;
    dispatcher.stored();
    await turns();
  }
  assert.equal(claims, 1);
  turned.nowMs = 50;
  const soon = [...turned.timers].find(([, atMs]) => atMs <= 80);
  assert.ok(soon, 'those stored meanwhile are claimed soon');
  soon[0]();
  await until('they are claimed', () => claims === 2);
  await turns();
  turned.nowMs += 50;
  dispatcher.stored();
  assert.equal(claims, 3);
  await turns();
  // A send has ended.
  dispatcher.wake();
  assert.equal(claims, 4);
});
