import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeOfDay, zonedTime } from './zoned-time.ts';

const AT = Date.parse('2026-11-24T23:30:00Z');
const NOW = Date.parse('2026-11-24T10:00:00Z');

test('a moment is written in the zone and in UTC, each with its day where they differ', () => {
  assert.match(zonedTime(AT, 'Europe/Vienna'), /^Wed 25 Nov 2026, 00:30 (CET|GMT\+1) \(Tue 24 Nov 2026, 23:30 UTC\)$/);
  assert.match(zonedTime(NOW, 'Europe/Vienna'), /^Tue 24 Nov 2026, 11:00 (CET|GMT\+1) \(10:00 UTC\)$/);
  assert.match(timeOfDay(AT, 'Europe/Vienna'), /^00:30 (CET|GMT\+1)$/);
});

test('the present year is left out where the reader knows it', () => {
  assert.match(zonedTime(AT, 'Europe/Vienna', NOW), /^Wed 25 Nov, 00:30 (CET|GMT\+1) \(Tue 24 Nov, 23:30 UTC\)$/);
  assert.equal(zonedTime(AT, 'UTC', NOW), 'Tue 24 Nov, 23:30 UTC');
  assert.match(zonedTime(AT, 'UTC', Date.parse('2025-01-01T00:00:00Z')), /2026/);
});

test('an unknown zone is UTC, and an invalid time is empty', () => {
  assert.equal(zonedTime(AT, 'Mars/Base', NOW), 'Tue 24 Nov, 23:30 UTC');
  assert.equal(zonedTime(Number.NaN, 'UTC'), '');
  assert.equal(timeOfDay(8.64e15 + 1, 'UTC'), '');
});
