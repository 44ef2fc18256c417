import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { Dispatcher } from './dispatcher.ts';
import { SendSlots } from './send-slots.ts';
import { TryRecorder } from './try-recorder.ts';

test('new deliveries of a full host cause few claims, and one after a pause causes a claim at once', async () => {
  let nowMs = 0;
  let claims = 0;
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, run) {
      timers.set(run, delayMs);
      return { cancel: () => void timers.delete(run) };
    },
  };
  const dispatcher = new Dispatcher({
    async claim() {
      claims++;
      return { claimed: [], contended: false, more: false, nextDueMs: null };
    },
    send: () => Promise.reject(new Error('nothing is claimed')),
    recorder: new TryRecorder(async () => new Set(), clock, silentLogger),
    slots: new SendSlots({ sendsMax: 4, bytesMax: 1 << 20, perHostMax: 1, mailsMax: 1 }),
    clock,
    random: () => 0.5,
    logger: silentLogger,
    retryMs: () => [1],
    claimMs: 20_000,
    stopGraceMs: 1,
  });
  const turns = async () => {
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  dispatcher.stored();
  await turns();
  for (let n = 0; n < 30; n++) {
    nowMs++;
    dispatcher.stored();
    await turns();
  }
  assert.equal(claims, 1);
  nowMs = 50;
  const soon = [...timers].find(([, delayMs]) => delayMs <= 50);
  assert.ok(soon, 'those stored meanwhile are claimed soon');
  soon[0]();
  await until('they are claimed', () => claims === 2);
  await turns();
  nowMs += 50;
  dispatcher.stored();
  assert.equal(claims, 3);
  await turns();
  // A send has ended.
  dispatcher.wake();
  assert.equal(claims, 4);
});
