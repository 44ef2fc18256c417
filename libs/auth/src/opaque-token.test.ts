import assert, { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { base62, isOpaqueToken, newOpaqueToken, opaqueTokenSha256 } from './opaque-token.ts';

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

test('a token is 256 random bits and known by its hash', () => {
  const tokens = Array.from({ length: 100 }, newOpaqueToken);
  assert.equal(new Set(tokens).size, tokens.length);
  assert.ok(tokens.every(isOpaqueToken));
  assert.equal(
    opaqueTokenSha256('A'.repeat(43)).toString('hex'),
    '0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a',
  );
  for (const other of ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(43)}\n`]) {
    assert.ok(!isOpaqueToken(other), JSON.stringify(other));
  }
});
