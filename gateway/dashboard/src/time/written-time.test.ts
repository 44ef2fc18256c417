import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayOf, relativeTime, shortTime, writtenDuration, zoneWord } from './written-time.ts';

const AT_MS = Date.parse('2026-11-25T23:30:00Z');

test('a duration has at most two units, and never one that is not over yet', () => {
  const cases: [number, string][] = [
    [0, '0 ms'],
    [999, '999 ms'],
    [1_990, '1.9 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [3_600_000, '1 h'],
    [187_200_000, '2 d 4 h'],
  ];
  for (const [ms, text] of cases) assert.equal(writtenDuration(ms), text);
});

test('a time is as short as the day allows, in the reader’s zone', () => {
  assert.equal(shortTime(AT_MS, 'UTC', AT_MS + 1_000), '23:30');
  assert.equal(shortTime(AT_MS, 'UTC', AT_MS + 3_600_000), '25 Nov, 23:30');
  assert.equal(shortTime(AT_MS, 'Europe/Vienna', AT_MS), '00:30');
  assert.equal(shortTime(AT_MS, 'UTC', AT_MS + 60 * 86_400_000), '25 Nov 2026, 23:30');
  assert.equal(dayOf(AT_MS, 'Europe/Vienna'), '2026-11-26');
  assert.equal(zoneWord(AT_MS, 'UTC'), 'UTC');
});

test('a relative time has one unit, before and after', () => {
  assert.equal(relativeTime(AT_MS, AT_MS + 5_000), 'just now');
  assert.equal(relativeTime(AT_MS, AT_MS + 125_000), '2 min ago');
  assert.equal(relativeTime(AT_MS, AT_MS - 7_200_000), 'in 2 h');
});
