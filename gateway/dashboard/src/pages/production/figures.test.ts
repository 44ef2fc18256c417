import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, runsAMinute, successShare } from './figures.ts';

const NONE = { queued: 0, running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 };
const bucket = (at: string, counts: object) => ({
  at,
  running_p50_ms: 0,
  queued_max_ms: 0,
  running_p95_ms: 0,
  ...NONE,
  ...counts,
});

test('the share of success is unknown until a run has ended, and cancelled ones do not count', () => {
  assert.equal(successShare(NONE), null);
  assert.equal(successShare({ ...NONE, succeeded: 3, failed: 1, cancelled: 5 }), 0.75);
  assert.equal(allOf({ ...NONE, queued: 1, cancelled: 2 }), 3);
});

test('runs a minute are those of the last part and the present one, over the time since', () => {
  const buckets = [bucket('2026-11-25T12:00:00Z', { succeeded: 900 }), bucket('2026-11-25T12:15:00Z', { failed: 10 })];
  const rate = runsAMinute({ buckets, bucket_ms: 900_000 }, Date.parse('2026-11-25T12:20:00Z'));
  assert.equal(rate, 910 / 20);
  assert.equal(runsAMinute({ buckets: [], bucket_ms: 900_000 }, 0), 0);
});
