import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { gatewayFixture } from '../testing/gateway.fixture.ts';

const ANYONE = { authorization: '' };

test('packages are served under their hash, and other paths have the usual 404', async () => {
  const packagesDir = tempFolder('packages');
  writeFileSync(join(packagesDir, 'methods-client-0.1.0.tgz'), 'tarball');
  writeFileSync(join(packagesDir, 'methods_client-0.1.0-py3-none-any.whl'), 'wheel');
  writeFileSync(join(packagesDir, 'notes.txt'), 'secret');
  await using gateway = await gatewayFixture({ packagesDir });
  const { status, body } = await gateway.ask('GET', '/packages', undefined, ANYONE);
  const sha256 = createHash('sha256').update('tarball').digest('hex');
  const integrity = `sha512-${createHash('sha512').update('tarball').digest('base64')}`;
  const path = `/packages/${sha256.slice(0, 16)}/methods-client-0.1.0.tgz`;
  assert.equal(status, 200);
  assert.deepEqual(body.node, { path, sha256, integrity });
  assert.match(
    String(Object(body.python).path),
    /^\/packages\/[0-9a-f]{16}\/methods_client-0\.1\.0-py3-none-any\.whl$/,
  );
  const file = await gateway.app.inject({ url: path });
  assert.deepEqual([file.statusCode, file.body], [200, 'tarball']);
  assert.match(String(file.headers['cache-control']), /immutable/);
  for (const other of [
    '/packages/notes.txt',
    `/packages/${sha256.slice(0, 16)}/notes.txt`,
    '/packages/..%2fnotes.txt',
  ]) {
    const missing = await gateway.ask('GET', other, undefined, ANYONE);
    assert.deepEqual([missing.status, missing.body.error], [404, 'not_found'], other);
  }
});

test('without packages the list is empty', async () => {
  await using gateway = await gatewayFixture();
  const { status, body } = await gateway.ask('GET', '/packages', undefined, ANYONE);
  assert.deepEqual([status, body], [200, {}]);
});
