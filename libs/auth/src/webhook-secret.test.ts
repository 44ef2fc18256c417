import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { createWebhookSecret } from './webhook-signature.ts';

test('a webhook secret is whsec_ and 43 characters of base 62', () => {
  for (let i = 0; i < 200; i++) match(createWebhookSecret(), /^whsec_[0-9A-Za-z]{43}$/);
});

test('no two webhook secrets are the same', () => {
  equal(new Set(Array.from({ length: 100 }, createWebhookSecret)).size, 100);
});
