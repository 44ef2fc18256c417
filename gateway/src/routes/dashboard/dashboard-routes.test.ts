import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { gatewayFixture } from '../../testing/gateway.fixture.ts';

const SCRIPT = 'console.log("dashboard")';
const PAGE = '<!doctype html><meta name="release" content="__RELEASE__"><script nonce="__NONCE__" src="/assets/a.js">';
const HTML = { accept: 'text/html,application/xhtml+xml' };

function dashboardFolder(): string {
  const folder = tempFolder('dashboard');
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets/a.js'), SCRIPT);
  writeFileSync(join(folder, 'assets/a.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets/notes.txt'), 'secret');
  return folder;
}

test('the page is served at every path that is no other surface’s, with a policy of its own', async () => {
  await using gateway = await gatewayFixture({ dashboardDir: dashboardFolder() });
  const nonces = new Set<string>();
  for (const url of ['/', '/inbox', '/o/org_x/', '/o/org_x/runs/run_1', '/apiary', '/v10', '/about', '/o/org_x/api']) {
    const { statusCode, headers, body } = await gateway.app.inject({ url, headers: HTML });
    assert.deepEqual([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'], url);
    assert.equal(headers['cache-control'], 'no-store');
    const policy = String(headers['content-security-policy']);
    const [, nonce = ''] = /nonce="([^"]+)"/.exec(body) ?? [];
    nonces.add(nonce);
    assert.ok(policy.includes(`script-src 'nonce-${nonce}' 'strict-dynamic'`), policy);
    assert.ok(!/unsafe|https?:|\*/.test(policy), policy);
    assert.ok(policy.includes("frame-ancestors 'none'"));
    assert.ok(body.includes(`content="${headers['methods-release']}"`));
    assert.ok(!body.includes('__'));
  }
  assert.equal(nonces.size, 8);
});

test('unknown paths of other surfaces keep their own 404, and so does a program that accepts no page', async () => {
  await using gateway = await gatewayFixture({ dashboardDir: dashboardFolder() });
  const others = ['/api', '/api/x', '/v1/x', '/mcp/x', '/mcp', '/a', '/auth/x', '/packages/x', '/assets/x.js'];
  const more = ['/.well-known/x', '/reference/x', '/schemas/x', '/healthz/x', '/o/org_x/api/x', '/api/?x', '/api#x'];
  for (const url of [...others, ...more]) {
    const { statusCode, headers, body } = await gateway.app.inject({ url, headers: HTML });
    assert.equal(statusCode, 404, url);
    assert.ok(!/__NONCE__|doctype html><meta name="release"/.test(body), url);
    assert.match(String(headers['content-type']), /json|html/, url);
  }
  for (const headers of [{ accept: 'application/json' }, {}]) {
    const reply = await gateway.app.inject({ url: '/inbox', headers });
    assert.deepEqual([reply.statusCode, reply.json().error], [404, 'not_found']);
  }
  const post = await gateway.app.inject({ url: '/inbox', method: 'POST', headers: HTML });
  assert.equal(post.statusCode, 404);
});

test('the parts of the page are kept forever, compressed if the browser accepts it', async () => {
  await using gateway = await gatewayFixture({ dashboardDir: dashboardFolder() });
  const plain = await gateway.app.inject({ url: '/assets/a.js' });
  assert.deepEqual([plain.statusCode, plain.body, plain.headers['content-encoding']], [200, SCRIPT, undefined]);
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
  assert.equal(plain.headers['x-content-type-options'], 'nosniff');
  const brotli = await gateway.app.inject({ url: '/assets/a.js', headers: { 'accept-encoding': 'gzip, BR' } });
  assert.deepEqual([brotli.headers['content-encoding'], brotli.headers.vary], ['br', 'accept-encoding']);
  const refused = await gateway.app.inject({ url: '/assets/a.js', headers: { 'accept-encoding': 'br;q=0, gzip' } });
  assert.deepEqual([refused.body, refused.headers['content-encoding']], [SCRIPT, undefined]);
  const known = await gateway.app.inject({
    url: '/assets/a.js',
    headers: { 'if-none-match': String(plain.headers.etag) },
  });
  assert.deepEqual([known.statusCode, known.body], [304, '']);
  for (const url of ['/assets/notes.txt', '/assets/..%2findex.html', '/assets/']) {
    assert.equal((await gateway.app.inject({ url })).statusCode, 404, url);
  }
});

test('a call that names an organization is made in no other one', async () => {
  await using gateway = await gatewayFixture();
  const path = `/o/${gateway.orgId}/api/whoami`;
  // A service key opens no path below /api.
  assert.equal((await gateway.ask('GET', path)).status, 401);
  assert.equal((await gateway.ask('GET', `/o/${gateway.orgId}/v1/whoami`)).status, 404);
});
