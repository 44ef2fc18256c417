import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Runner } from './runner.ts';
import { RunnerQueue } from './runner-queue.ts';

const PROCESSORS = 2;
const LONG_MS = 40;
const NOW_MS = 10_000;

/** A queue whose runners have had their steps for `stepMs` and waited for a processor for `share` of the time. */
function queueOf(shares: readonly number[], stepMs: number, workerShare = 0): RunnerQueue {
  const queue = new RunnerQueue('key', () => workerShare);
  for (const share of shares) {
    queue.runners.add({ sinceMs: NOW_MS - stepMs, waitedShare: () => share } as unknown as Runner);
  }
  return queue;
}

const wouldGain = (queue: RunnerQueue) => queue.wouldGain(NOW_MS, PROCESSORS, LONG_MS);

test('each processor gets a runner, however busy the machine is', () => {
  assert.equal(wouldGain(queueOf([], 0)), true);
  assert.equal(wouldGain(queueOf([1], 0)), true);
});

test('short steps gain nothing from one runner more than there are processors', () => {
  assert.equal(wouldGain(queueOf([0, 0], 5)), false);
});

test('long steps gain from one more', () => {
  assert.equal(wouldGain(queueOf([0, 0], LONG_MS)), true);
  const sleepers = queueOf([0, 0.2], 5);
  for (let i = 0; i < 20; i++) sleepers.measured(100);
  assert.equal(wouldGain(sleepers), true);
});

test('steps that are long because their runners wait for a processor gain nothing from one more', () => {
  const starved = queueOf([0.6, 0.1], LONG_MS);
  for (let i = 0; i < 20; i++) starved.measured(50);
  assert.equal(wouldGain(starved), false);
});

test('steps that are long because the worker waits for a processor gain nothing from one more', () => {
  assert.equal(wouldGain(queueOf([0, 0], LONG_MS, 0.6)), false);
});

test('steps that keep every runner for long get one more even where runners wait for a processor', () => {
  assert.equal(wouldGain(queueOf([0.6, 0.6, 0.6], 10 * LONG_MS)), true);
});
