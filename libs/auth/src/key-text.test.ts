import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { base62, secretText } from './key-text.ts';

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

test('the text of a secret is that of its bytes as one number, the first byte the most significant', () => {
  equal(secretText(new Uint8Array(32)), '0'.repeat(43));
  equal(secretText(new Uint8Array(32).fill(255)), base62(2n ** 256n - 1n, 43));
  equal(secretText(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0))), base62(2n ** 248n, 43));
});
