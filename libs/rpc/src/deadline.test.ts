import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { nextHopTimeoutMs } from './client.ts';

test('each hop leaves its caller 5 %, at least 20 ms', () => {
  equal(nextHopTimeoutMs(11_000, 60_000, 1_000), 9_500);
  equal(nextHopTimeoutMs(1_100, 60_000, 1_000), 80);
});

test('a hop never takes longer than it wants', () => {
  equal(nextHopTimeoutMs(11_000, 300, 1_000), 300);
  equal(nextHopTimeoutMs(Number.POSITIVE_INFINITY, 300, 1_000), 300);
});

test('nothing is left at the end', () => {
  ok(nextHopTimeoutMs(1_010, 300, 1_000) <= 0);
  ok(nextHopTimeoutMs(500, 300, 1_000) <= 0);
});
