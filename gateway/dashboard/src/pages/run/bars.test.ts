import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barsOf, busySpans } from './bars.ts';

const at = (ms: number) => new Date(ms).toISOString();
const step = (over: object = {}) => ({
  kind: 'node',
  status: 'succeeded',
  timing: { started_at: at(1_000), finished_at: at(3_000), running_ms: 2_000, waiting_ms: 0 },
  ...over,
});

test('a step that ran is one bar; one that has not begun has none', () => {
  assert.deepEqual(barsOf(step(), 9_000), [{ fromMs: 1_000, toMs: 3_000, fill: 'running' }]);
  const timing = { started_at: null, finished_at: null, running_ms: 0, waiting_ms: 0 };
  assert.deepEqual(barsOf(step({ status: 'pending', timing }), 9_000), []);
});

test('a question waits after it ran, until now while it is open', () => {
  const timing = { started_at: at(1_000), finished_at: null, running_ms: 100, waiting_ms: 0 };
  assert.deepEqual(barsOf(step({ kind: 'ask', status: 'waiting', timing }), 9_000), [
    { fromMs: 1_000, toMs: 1_100, fill: 'running' },
    { fromMs: 1_100, toMs: 9_000, fill: 'waiting' },
  ]);
});

test('a wait sleeps', () => {
  const timing = { started_at: at(1_000), finished_at: at(5_000), running_ms: 0, waiting_ms: 4_000 };
  assert.deepEqual(barsOf(step({ kind: 'wait', timing }), 9_000), [{ fromMs: 1_000, toMs: 5_000, fill: 'asleep' }]);
});

test('busy is what is queued or runs, not what waits', () => {
  const timing = { started_at: at(3_000), finished_at: at(90_000), running_ms: 0, waiting_ms: 87_000 };
  const asked = step({ kind: 'ask', timing });
  assert.deepEqual(busySpans([step(), asked], { fromMs: 0, toMs: 100_000, isQueued: false }), [
    { fromMs: 0, toMs: 1_000 },
    { fromMs: 1_000, toMs: 3_000, fill: 'running' },
  ]);
});
