import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpaqueToken, newOpaqueToken, opaqueTokenSha256 } from './opaque-token.ts';

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
