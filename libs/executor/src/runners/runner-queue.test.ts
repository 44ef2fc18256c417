import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Runner } from './runner.ts';
import { RunnerQueue } from './runner-queue.ts';

const PROCESSORS = 2;
const LONG_MS = 40;

/** A queue whose two runners have had their step for `presentMs`. */
function queue(presentMs: number, isComputing = false): RunnerQueue {
  const made = new RunnerQueue('key');
  for (let i = 0; i < PROCESSORS; i++) made.runners.add({ sinceMs: 1000 - presentMs, isComputing } as Runner);
  return made;
}
function gains(made: RunnerQueue, ms: number, wantedMs?: number): boolean {
  const spent = wantedMs === undefined ? { ms } : { ms, wantedMs };
  for (let i = 0; i < 100; i++) made.measured({ out: null, failure: null, checks: [], stdout: null, ...spent });
  return made.wouldGain(1000, PROCESSORS, LONG_MS);
}

describe('one runner more', () => {
  it('helps steps that mostly wait for something else than a processor', () => {
    equal(gains(queue(0), 100, 3), true);
    equal(gains(queue(0), 100, 30), true);
  });

  it('does not help steps that take long because the processors are busy', () => {
    equal(gains(queue(0), 100, 95), false);
    equal(gains(queue(0), 100, 40), false);
    equal(gains(queue(0), 100), false);
  });

  it('does not help short steps that wait', () => {
    equal(gains(queue(0), 8, 1), false);
  });

  it('helps where each runner has had its step for long, and later where they compute', () => {
    equal(gains(queue(50), 1), true);
    equal(gains(queue(50, true), 1), false);
    equal(gains(queue(300, true), 1), true);
  });

  it('helps while there are fewer than processors', () => {
    equal(new RunnerQueue('key').wouldGain(1000, PROCESSORS, LONG_MS), true);
  });
});
