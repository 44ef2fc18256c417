import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMethodId } from '@methods/base/ids';
import { askedStart, internalStartHash } from './start-request.ts';

const method = newMethodId();
const digest = (body: object) =>
  askedStart({ method, idempotency_key: 'order-0001', ...body }).key?.digest.toString('hex');

test('a start with its defaults spelled out is the same request as one without', () => {
  const plain = digest({});
  assert.equal(
    digest({ inputs: {}, version: 'published', metadata: {}, answer_by: 'team', run_data: 'account' }),
    plain,
  );
  assert.equal(digest({ method: `wf_${method}` }), plain);
  assert.equal(
    digest({ webhook_url: 'https://example.com/', answer_by: 'application' }),
    digest({ webhook_url: 'https://example.com/' }),
  );
});

test('the order of fields and the spelling of numbers make no difference, values do', () => {
  const asked = digest({ inputs: { a: 1, b: [1.0, 'é'] } });
  assert.equal(digest(JSON.parse('{"inputs":{"b":[1.0e0,"\\u00e9"],"a":1.0}}')), asked);
  const others = [
    { inputs: { a: 1, b: ['é', 1] } },
    { inputs: { a: '1', b: [1, 'é'] } },
    { inputs: { a: 1, b: [1, 'e\u0301'] } },
    { inputs: { a: 1, b: [1, 'é'], c: null } },
    { inputs: { a: 1, b: [1, 'é'] }, answer_by: 'application' },
    { inputs: { a: 1, b: [1, 'é'] }, metadata: { a: '1' } },
    { inputs: { a: 1, b: [1, 'é'] }, version: 'ver_0' },
    { inputs: { a: 1, b: [1, 'é'] }, method: newMethodId() },
    { inputs: { a: 1, b: [1, 'é'] }, webhook_url: 'https://example.com/' },
  ];
  const digests = new Set([asked, ...others.map(digest)]);
  assert.equal(digests.size, others.length + 1);
});

test('starts without a key have hashes of their own', () => {
  const hashes = Array.from({ length: 1_000 }, () => internalStartHash().toString('hex'));
  assert.equal(new Set(hashes).size, hashes.length);
  assert.ok(hashes.every((hash) => hash.length === 64));
});
