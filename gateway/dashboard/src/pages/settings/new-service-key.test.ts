import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { authSha256, parseBearerKey } from '@methods/auth/service-key';
import { newServiceKey } from './new-service-key.ts';

test('the server accepts a key made in the browser, and identifies it by the hash that was sent', async () => {
  const made = await newServiceKey();
  const parsed = parseBearerKey(made.key);
  equal(parsed?.contentPart?.length, 43);
  equal(authSha256(parsed?.authPart ?? '').toString('hex'), made.authSha256);
});

test('no two keys are the same', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => newServiceKey()));
  equal(new Set(keys.map(({ key }) => key)).size, 20);
});
