import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type FileId, newId, newRunId, type RunId } from '@methods/base/ids';
import { pax, rawArchive } from '@methods/content/hostile-archive.fixture';
import { sealed, sealedStream } from '@methods/content/sealed.fixture';
import { until } from '@methods/test/harness/until';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway.fixture.ts';

async function filesOf(gateway: GatewayFixture, runId: RunId, key = gateway.apiKey.key, path = ''): Promise<Response> {
  return fetch(`http://127.0.0.1:${gateway.port}/v1/runs/${runId}/files${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
}

/** `path` in the form of a file value. */
async function fileOf(gateway: GatewayFixture, runId: RunId, path: string, key?: string) {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const response = await filesOf(gateway, runId, key, `/${encoded}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function startedRun(gateway: GatewayFixture): Promise<RunId> {
  return (await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } })).body.run_id;
}

test('the files of a run are sent as the archive they were saved as, to be saved and never shown', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const chunks = [Buffer.alloc(65_536, 1), Buffer.alloc(65_536, 2), Buffer.from('end')];
  gateway.book.archives.set(runId, chunks);
  const response = await filesOf(gateway, runId);
  assert.equal(response.status, 200);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.concat(chunks));
  const { headers } = response;
  assert.equal(headers.get('content-type'), 'application/gzip');
  assert.equal(headers.get('content-disposition'), `attachment; filename="${runId}.tar.gz"`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('a run without files has an empty archive', async () => {
  await using gateway = await gatewayFixture();
  const response = await filesOf(gateway, await startedRun(gateway));
  assert.deepEqual(gunzipSync(Buffer.from(await response.arrayBuffer())), Buffer.alloc(1_024));
});

test('one file of an archive is sent by its path, under its name, and is never a page of this origin', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const names = ['a.html', 'Größe "100%" #1?.csv', 'a%2Fb', "it's (1)*.txt", `${'n'.repeat(250)}.txt`];
  const members = names.flatMap((name) => {
    const path = `steps/loop.2/inner/files/${name}`;
    return [pax({ path }), { name: 'x', content: `<script>${name}</script>` }];
  });
  gateway.book.archives.set(runId, [rawArchive(members)]);
  for (const name of names) {
    const { status, headers, text } = await fileOf(gateway, runId, `steps/loop.2/inner/files/${name}`);
    assert.deepEqual([status, text], [200, `<script>${name}</script>`], name);
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)));
    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'content-security-policy', 'cache-control'].map((it) =>
        headers.get(it),
      ),
      ['application/octet-stream', 'nosniff', "default-src 'none'; sandbox", 'no-store'],
    );
    assert.match(
      headers.get('content-disposition') ?? '',
      /^attachment; filename="[ !#-$&-[\]-~]+"(; filename\*=UTF-8''\S+)?$/,
    );
    const [, encoded] = /filename\*=UTF-8''(\S+)$/.exec(headers.get('content-disposition') ?? '') ?? [];
    if (encoded !== undefined) assert.equal(decodeURIComponent(encoded), name);
  }
  assert.equal((await fileOf(gateway, runId, 'steps/a/files/a.html')).status, 404);
  await until('its stream was left', () => gateway.book.archivesRead === 0);
});

test('an invalid path is refused without a call to a node, and a damaged archive has no files', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  gateway.book.archives.set(runId, [Buffer.from('no archive')]);
  const { readsBegun } = gateway.book;
  for (const path of [
    '/',
    '/..',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/steps/a/files/..%2f..%2f..%2fetc%2fpasswd',
    '/steps/a/files/a%00b',
    '/steps/a/files/a%0d%0aset-cookie:x',
    '/steps/a/files/',
    `/steps/a/files/${'x'.repeat(300)}`,
    `/steps/${'a/'.repeat(600)}files/x`,
    '/steps/a/log.txt',
    '/inputs/file_x/a.txt',
    `/inputs/${newId('file')}/a/b`,
    `/${newId('file')}`,
  ]) {
    const response = await filesOf(gateway, runId, gateway.apiKey.key, path);
    assert.deepEqual([response.status, ((await response.json()) as { error: string }).error], [404, 'not_found'], path);
  }
  assert.equal((await filesOf(gateway, runId, gateway.apiKey.key, '/steps/a/files/%ff')).status, 400);
  assert.equal((await filesOf(gateway, runId, gateway.apiKey.key, '/steps/a/files/a?x=1')).status, 400);
  assert.equal(gateway.book.readsBegun, readsBegun);
  assert.equal((await fileOf(gateway, runId, 'steps/a/files/a')).status, 404);
  assert.equal((await fileOf(gateway, await startedRun(gateway), 'steps/a/files/a')).status, 404, 'it saved none');
});

test('a file that the inputs of a run name is sent to callers that may read the run', async () => {
  await using gateway = await gatewayFixture();
  const { methodId } = gateway.registry.method(
    gateway.orgId,
    'format: method/2\nname: reads\ninputs: { a: file }\nsteps:\n  - name: one\n    node: return {};\n',
  );
  const sent = await fetch(`http://127.0.0.1:${gateway.port}/v1/files`, {
    method: 'POST',
    body: '<script>',
    headers: { authorization: `Bearer ${gateway.apiKey.key}`, 'content-type': 'text/html', 'x-file-name': 'a.html' },
  });
  const { file_id } = (await sent.json()) as { file_id: FileId };
  const { body } = await gateway.ask('POST', '/v1/runs', { method: methodId, inputs: { a: { file_id } } });
  const path = `inputs/${file_id}/a.html`;
  const second = gateway.registry.key(gateway.orgId).key;
  for (const key of [gateway.apiKey.key, second]) {
    const { status, headers, text } = await fileOf(gateway, body.run_id, path, key);
    assert.deepEqual([status, text, headers.get('content-type')], [200, '<script>', 'application/octet-stream']);
    assert.equal(headers.get('content-disposition'), 'attachment; filename="a.html"');
  }
  const other = await startedRun(gateway);
  const stranger = gateway.registry.key(newId('org')).key;
  for (const [runId, at, key] of [
    [body.run_id, `inputs/${file_id}/b.html`, second],
    [body.run_id, `inputs/${newId('file')}/a.html`, second],
    [other, path, second],
    [newRunId(0), path, second],
    [body.run_id, path, stranger],
  ] as const) {
    assert.equal((await fileOf(gateway, runId, at, key)).status, 404, at);
  }
});

test('a missing run, or one of another organization, has no files', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const foreign = await filesOf(gateway, runId, gateway.registry.key(newId('org')).key);
  const missing = await filesOf(gateway, newRunId(0));
  assert.deepEqual([foreign.status, missing.status], [404, 404]);
  assert.equal((await filesOf(gateway, 'run_1')).status, 404);
});

test('files come from another node if one is unavailable, and are unavailable without any', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const runId = await startedRun(gateway);
  gateway.book.archives.set(runId, [Buffer.from('x')]);
  await gateway.nodes[0]?.stop();
  for (let i = 0; i < 2; i++) assert.equal((await filesOf(gateway, runId)).status, 200);
  await gateway.nodes[1]?.stop();
  const none = await filesOf(gateway, runId);
  assert.equal(none.status, 503);
  assert.ok(none.headers.get('retry-after'));
});

test('unread downloads use up the share of their key and their organization, and no other', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  gateway.book.archives.set(runId, Array(400).fill(Buffer.alloc(65_536)));
  const open: Response[] = [];
  const fill = async (key: string): Promise<{ share?: string; error?: string }> => {
    for (;;) {
      const response = await filesOf(gateway, runId, key);
      if (response.status !== 200) return (await response.json()) as { share?: string; error?: string };
      open.push(response);
      assert.ok(open.length < 100);
    }
  };
  const { share, error } = await fill(gateway.apiKey.key);
  assert.deepEqual([open.length, share, error], [10, 'key', 'rate_limited']);
  await fill(gateway.registry.key(gateway.orgId).key);
  assert.equal((await fill(gateway.registry.key(gateway.orgId).key)).share, 'organization');
  assert.equal(open.length, 20);

  const other = newId('org');
  const key = gateway.registry.key(other).key;
  const { methodId } = gateway.registry.method(other, gateway.source);
  const request = { method: methodId, inputs: { name: 'Eve' } };
  const started = await gateway.ask('POST', '/v1/runs', request, { authorization: `Bearer ${key}` });
  assert.equal((await filesOf(gateway, started.body.run_id, key)).status, 200);
  await Promise.all(open.map(({ body }) => body?.cancel()));
});

test('the files of a run in device mode are sent sealed, and none of them by its name', async () => {
  await using gateway = await gatewayFixture();
  const device = { run_data: 'device', content_id: 'ab'.repeat(16), inputs: sealed({ kind: 'inputs' }) };
  const runId = (await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, ...device })).body.run_id;
  const none = await filesOf(gateway, runId);
  assert.deepEqual([none.status, (await none.arrayBuffer()).byteLength], [200, 0]);
  const archive = sealedStream({ kind: 'folder', plainBytes: 70_000 });
  gateway.book.archives.set(runId, [archive]);
  const all = await filesOf(gateway, runId);
  assert.deepEqual(Buffer.from(await all.arrayBuffer()), archive);
  assert.deepEqual(
    ['content-type', 'content-disposition'].map((name) => all.headers.get(name)),
    ['application/vnd.methods.sealed', `attachment; filename="${runId}.sealed"`],
  );
  const one = await fileOf(gateway, runId, 'steps/a/files/a.txt');
  assert.deepEqual([one.status, JSON.parse(one.text).error], [422, 'device_mode_required']);
  await until('the archive was left', () => gateway.book.archivesRead === 0);
});
