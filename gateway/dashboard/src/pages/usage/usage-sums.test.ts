import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageRow } from '../../api/shapes.ts';
import { firstDay, sumUsage } from './usage-sums.ts';

function row(day: string, method: string, runs: number, p50: number): UsageRow {
  const spans = { sum: 0, p50, p95: 2 * p50 };
  return {
    ...{ day, method, runs, succeeded: runs, failed: 0, cancelled: 0, unfinished: 0, waited: 0, answers: 0 },
    ...{ queued_ms: spans, running_ms: spans, waiting_ms: { sum: 0 }, answering_ms: spans },
  };
}

const ROWS = [row('2026-11-02', 'wf_a', 1, 40), row('2026-11-02', 'wf_b', 5, 10), row('2026-11-01', 'wf_a', 3, 20)];

test('adds up the parts of a day and method, which may be on two pages', () => {
  const [sum, ...others] = sumUsage([row('2026-11-02', 'wf_a', 1, 40), row('2026-11-02', 'wf_a', 3, 20)], 'both');
  equal(others.length, 0);
  equal(sum?.runs, 4);
  deepEqual(sum?.running, { p50: 25, p95: 50, isAbout: true });
});

test('groups by day, by method and by both', () => {
  deepEqual(
    sumUsage(ROWS, 'day').map(({ day, method, runs }) => [day, method, runs]),
    [
      ['2026-11-02', null, 6],
      ['2026-11-01', null, 3],
    ],
  );
  deepEqual(
    sumUsage(ROWS, 'method').map(({ day, method, runs }) => [day, method, runs]),
    [
      [null, 'wf_a', 4],
      [null, 'wf_b', 5],
    ],
  );
  equal(sumUsage(ROWS, 'both').length, 3);
});

test('percentiles of one row are its own, and of rows without answers zero', () => {
  const [sum] = sumUsage([row('2026-11-02', 'wf_a', 1, 40)], 'both');
  deepEqual(sum?.running, { p50: 40, p95: 80, isAbout: false });
  deepEqual(sum?.answering, { p50: 0, p95: 0, isAbout: false });
});

test('the last 7 days begin six days ago', () => {
  equal(firstDay(Date.parse('2026-11-25T00:30:00Z'), 7), '2026-11-19');
});
