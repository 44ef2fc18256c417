import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { assertRefused, GREETING } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';

const { member, viewer, stranger } = fileApi();

async function greeting() {
  const { body } = await member('POST', '/api/methods', { idempotency_key: randomUUID(), source: GREETING });
  return { url: `/api/methods/${body.method.id}/versions`, base: body.method.current_version as string };
}

test('a version is saved upon the current one, with its reason, and the same text again saves nothing', async () => {
  const { url, base } = await greeting();
  const source = GREETING.replace('Hello', 'Good morning');
  const saved = await member('POST', url, { source, base_version: base, reason: 'Mornings' });
  assert.deepEqual([saved.status, saved.body.created], [201, true]);
  const { body: version } = await viewer('GET', `${url}/${saved.body.version_id}`);
  assert.deepEqual([version.source, version.reason, version.sha256], [source, 'Mornings', saved.body.sha256]);
  const again = await member('POST', url, { source, base_version: saved.body.version_id, reason: '' });
  assert.deepEqual([again.status, again.body.created, again.body.version_id], [200, false, saved.body.version_id]);
  const legacy = url.replace('methods', 'workflows');
  const old = await member('POST', legacy, { source: GREETING, base_version: saved.body.version_id, reason: 'Back' });
  assert.deepEqual([old.status, old.body.workflow_id], [201, old.body.method_id]);
});

test('of two writers on one version the second gets a conflict that names the current version', async () => {
  const { url, base } = await greeting();
  const first = await member('POST', url, { source: `${GREETING}# 1\n`, base_version: base, reason: 'First' });
  const second = await member('POST', url, { source: `${GREETING}# 2\n`, base_version: base, reason: 'Second' });
  assertRefused(second, 409, 'version_conflict');
  assert.equal(second.body.current_version, first.body.version_id);
});

test('a save is refused to viewers and other organizations, and for a wrong source or fields', async () => {
  const { url, base } = await greeting();
  const body = { source: `${GREETING}# 1\n`, base_version: base, reason: '' };
  assertRefused(await viewer('POST', url, body), 403, 'forbidden');
  assertRefused(await stranger('POST', url, body), 404, 'not_found');
  assertRefused(await member('POST', url, { ...body, source: 'format: method/2\n' }), 422, 'invalid_method');
  assertRefused(await member('POST', url, { ...body, source: `# ${'x'.repeat(256 * 1024)}` }), 413, 'too_large');
  assertRefused(await member('POST', url, { ...body, reason: 'x'.repeat(2_001) }), 400, 'invalid_request');
  assertRefused(await member('POST', url, { source: GREETING }), 400, 'invalid_request', 'required');
});
