import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { base62 } from './base62.ts';

test('digits come before capitals, capitals before small letters', () => {
  equal([0n, 9n, 10n, 35n, 36n, 61n].map((value) => base62(value, 1)).join(''), '09AZaz');
});

test('a number is written in its full width, most significant digit first', () => {
  equal(base62(62n * 62n + 1n, 6), '000101');
});

test('43 digits hold every 256-bit number', () => {
  const largest = base62(2n ** 256n - 1n, 43);
  equal(largest.length, 43);
  equal(base62(2n ** 256n - 1n, 44), `0${largest}`);
});
