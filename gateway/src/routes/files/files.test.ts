import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId } from '@methods/base/ids';
import { sealed, sealedStream } from '@methods/content/sealed.fixture';
import { sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { until } from '@methods/test/harness/until';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway.fixture.ts';

const FILES = `format: method/2
name: files
inputs: { a?: file, list?: list<file> }
require:
  - The file is small: inputs.a == null || inputs.a.bytes < 100
steps:
  - name: one
    node: return {};
`;

async function send(
  gateway: GatewayFixture,
  body: string | Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
  key = gateway.apiKey.key,
) {
  const duplex = body instanceof ReadableStream ? { duplex: 'half' } : {};
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/files`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...duplex,
  } as RequestInit);
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

test('a file is forwarded as it arrives, and described by name, size, hash and type', async () => {
  await using gateway = await gatewayFixture();
  const content = Buffer.alloc(300_000, 'x');
  const headers = { 'content-type': 'Application/PDF; a=b', 'x-file-name': 'Rechnung%20%C3%BC.pdf' };
  const { status, body } = await send(gateway, content, headers);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { file_id, expires_at, ...told } = body;
  assert.deepEqual(
    [status, told],
    [201, { name: 'Rechnung ü.pdf', bytes: 300_000, sha256, media_type: 'application/pdf' }],
  );
  assert.ok(Date.parse(expires_at) > Date.now());
  assert.ok(gateway.book.sent.chunks >= 5, 'in chunks');
  assert.ok(gateway.book.sent.files.get(file_id)?.content.equals(content));
  assert.deepEqual((await gateway.ask('GET', `/v1/files/${file_id}`)).body, body);
  const parts = new ReadableStream({
    start(controller) {
      for (const part of ['a', 'bc']) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });
  assert.equal((await send(gateway, parts)).body.bytes, 3);
  const empty = await send(gateway, '');
  assert.deepEqual(
    [empty.status, empty.body.bytes, empty.body.name, empty.body.media_type],
    [201, 0, 'file', 'text/plain'],
  );
});

test('invalid names, sizes beyond the limit and encodings are refused before a byte is stored', async () => {
  await using gateway = await gatewayFixture();
  for (const name of [
    'a%2Fb',
    '..',
    '.',
    '%2Fetc%2Fpasswd',
    'a%00b',
    'a%0Ab',
    'a%5Cb',
    'x'.repeat(256),
    '%E0',
    'C%3A',
  ]) {
    const { status, body } = await send(gateway, 'x', { 'x-file-name': name });
    assert.deepEqual([status, body.error, body.details[0].code], [400, 'invalid_request', 'file_name'], name);
  }
  for (const [headers, code] of [
    [{ 'content-encoding': 'gzip' }, 'content_encoding'],
    [{ 'idempotency-key': 'short' }, 'idempotency_key'],
    // The framework refuses the first two.
    [{ 'content-type': 'pdf' }, 'content_type'],
    [{ 'content-type': 'application/' }, 'content_type'],
    [{ 'content-type': `application/${'x'.repeat(64)}` }, 'content_type'],
  ] as const) {
    const { status, body } = await send(gateway, 'x', headers);
    assert.deepEqual([status, body.details?.[0].code], [400, code], JSON.stringify([headers, body]));
    assert.doesNotMatch(body.message, /JSON/);
  }
  const packed = await refusing(gateway, { 'transfer-encoding': 'gzip, chunked' });
  assert.deepEqual([packed.status, packed.body.details[0].code], [400, 'transfer_encoding']);
  const large = await refusing(gateway, { 'content-length': String(101 * 1024 * 1024) });
  assert.deepEqual([large.status, large.body.error, large.body.details[0].code], [413, 'too_large', 'file_bytes']);
  assert.equal(gateway.book.sent.chunks, 0);
});

test('the same key and file return the first one', async () => {
  await using gateway = await gatewayFixture();
  const key = { 'idempotency-key': 'invoice-0001' };
  const first = await send(gateway, 'hello', key);
  const again = await send(gateway, 'hello', key);
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed'), again.body], [200, 'true', first.body]);
});

test('a sender that disconnects releases its place, and nothing is stored', async () => {
  await using gateway = await gatewayFixture();
  for (let i = 0; i < 12; i++) {
    const sending = opened(gateway, { 'content-length': '1000' });
    sending.write('half');
    await until('a piece is there', () => gateway.book.sent.chunks > 2 * i);
    sending.destroy();
    await until('it broke off', () => gateway.book.sent.broken === i + 1);
  }
  assert.equal(gateway.book.sent.files.size, 0);
  assert.equal((await send(gateway, 'x')).status, 201);
});

test('an upload that takes too long is ended, and releases its place', async () => {
  const giveUp: (() => void)[] = [];
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs === 1_800_000) giveUp.push(run);
    return systemClock.after(delayMs, run);
  };
  await using gateway = await gatewayFixture({ clock: { ...systemClock, after } });
  const sending = opened(gateway, { 'content-length': '1000' });
  let ended = false;
  sending
    .on('response', (response) => response.resume())
    .on('close', () => {
      ended = true;
    });
  sending.write('half');
  await until('a piece is there', () => gateway.book.sent.chunks >= 2);
  for (const run of giveUp) run();
  await until('the connection ends', () => ended);
  await until('the node is notified', () => gateway.book.sent.broken === 1);
  assert.equal(gateway.book.sent.files.size, 0);
});

test('uploads in progress have a share for each key', async () => {
  await using gateway = await gatewayFixture();
  const open = Array.from({ length: 10 }, () => opened(gateway, { 'content-length': '1000' }));
  for (const sending of open) sending.write('half');
  await until('all are under way', () => gateway.book.sent.chunks >= 20);
  const refused = await send(gateway, 'x');
  assert.deepEqual([refused.status, refused.body.error, refused.body.share], [429, 'rate_limited', 'key']);
  assert.equal((await send(gateway, 'x', {}, gateway.registry.key(newId('org')).key)).status, 201);
  for (const sending of open) sending.destroy();
});

test('a start names files that its own key has sent, and the run gets their descriptions', async () => {
  await using gateway = await gatewayFixture();
  const { methodId } = gateway.registry.method(gateway.orgId, FILES);
  const start = (inputs: object) => gateway.ask('POST', '/v1/runs', { method: methodId, inputs });
  const file = (await send(gateway, 'hello', { 'x-file-name': 'a.txt' })).body;
  const named = { file_id: file.file_id };
  assert.equal((await start({ a: named, list: [named, named] })).status, 201);
  const [started] = gateway.book.starts;
  const { expires_at, ...reference } = file;
  const seen = { ...reference, path: `inputs/${file.file_id}/a.txt` };
  assert.deepEqual(JSON.parse(started?.inputsJson ?? ''), { a: seen, list: [seen, seen] });
  assert.deepEqual(
    { owner: started?.files?.owner, ids: started?.files?.fileIds },
    {
      owner: gateway.apiKey.keyId,
      ids: [file.file_id],
    },
  );
  const again = await gateway.ask('POST', `/v1/runs/${[...gateway.book.runs.keys()][0]}/rerun`);
  assert.equal(again.status, 201);
  assert.equal(gateway.book.starts[1]?.files?.runId, [...gateway.book.runs.keys()][0]);

  const small = await start({ a: { file_id: (await send(gateway, 'x'.repeat(200))).body.file_id } });
  assert.deepEqual([small.status, small.body.details[0].message], [422, 'The file is small']);

  const others = [
    newId('file'),
    (await send(gateway, 'x', {}, gateway.registry.key(gateway.orgId).key)).body.file_id,
    (await send(gateway, 'x', {}, gateway.registry.key(newId('org')).key)).body.file_id,
  ];
  for (const file_id of others) {
    const { status, body } = await start({ list: [named, { file_id }] });
    assert.deepEqual([status, body.error], [422, 'invalid_inputs']);
    assert.deepEqual([body.details[0].path, body.details[0].code], ['/list/1', 'unknown_file']);
    for (const method of ['GET', 'DELETE']) {
      assert.equal((await gateway.ask(method, `/v1/files/${file_id}`)).status, 404);
    }
  }
  assert.equal((await gateway.ask('DELETE', `/v1/files/${file.file_id}`)).status, 204);
  assert.equal((await start({ a: named })).body.details[0].code, 'unknown_file');
});

function opened(gateway: GatewayFixture, headers: Record<string, string>) {
  const sending = httpRequest({
    port: gateway.port,
    method: 'POST',
    path: '/v1/files',
    headers: { authorization: `Bearer ${gateway.apiKey.key}`, ...headers },
  });
  sending.on('error', () => {});
  sending.flushHeaders();
  return sending;
}

// biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
type Refusal = { readonly status: number | undefined; readonly body: any };

/** Returns the reply to a body that is announced and not sent. */
function refusing(gateway: GatewayFixture, headers: Record<string, string>): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const sending = opened(gateway, headers);
    sending.on('response', async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      sending.destroy();
      resolve({ status: response.statusCode, body: JSON.parse(Buffer.concat(parts).toString()) });
    });
    sending.on('error', reject);
  });
}

const SEALED = 'application/vnd.methods.sealed';
const sealedFile = () => sealedStream({ kind: 'file', plainBytes: 70_000 });

test('a sealed file is stored as it is, without its name, also where content is on devices', async () => {
  await using gateway = await gatewayFixture();
  gateway.registry.accounts.settings.contentOnDevices = true;
  const content = sealedFile();
  const { status, body } = await send(gateway, content, { 'content-type': SEALED });
  assert.deepEqual([status, body.name, body.bytes, body.media_type], [201, 'file', content.length, SEALED]);
  assert.ok(gateway.book.sent.files.get(body.file_id)?.content.equals(content));
  const plain = await send(gateway, 'plain', { 'content-type': 'text/plain' });
  assert.deepEqual([plain.status, plain.body.error], [422, 'device_mode_required']);
});

test('what claims to be sealed and is not, or has a name, is refused and not kept', async () => {
  await using gateway = await gatewayFixture();
  const content = sealedFile();
  const changed = Buffer.from(content);
  changed[20] = 9;
  const folder = sealedStream({ kind: 'folder' });
  for (const body of ['plain', '', changed, content.subarray(0, -1), Buffer.concat([content, content]), folder]) {
    const refused = await send(gateway, body, { 'content-type': SEALED });
    assert.deepEqual([refused.status, refused.body.details?.[0].code], [400, 'sealed_value_damaged']);
  }
  const named = await send(gateway, content, { 'content-type': SEALED, 'x-file-name': 'january.csv' });
  assert.deepEqual([named.status, named.body.details[0].code], [400, 'file_name']);
  assert.equal(gateway.book.sent.files.size, 0);
});

test('the bound of a sealed file counts plain bytes', async () => {
  await using gateway = await gatewayFixture();
  const limit = sealedStreamBytes(100 * 1024 * 1024);
  const large = await refusing(gateway, { 'content-type': SEALED, 'content-length': String(limit + 1) });
  assert.deepEqual([large.status, large.body.details[0].code], [413, 'file_bytes']);
  const fits = opened(gateway, { 'content-type': SEALED, 'content-length': String(limit) });
  fits.write(sealedFile().subarray(0, 16));
  await until('it is under way', () => gateway.book.sent.chunks > 0);
  fits.destroy();
});

test('a start in device mode names sealed files that its key has sent, or those of an earlier run', async () => {
  await using gateway = await gatewayFixture();
  const upload = async (headers: Record<string, string>, content: string | Uint8Array = sealedFile(), key?: string) =>
    (await send(gateway, content, headers, key)).body.file_id;
  const file = await upload({ 'content-type': SEALED });
  const plain = await upload({ 'content-type': 'text/plain' }, 'plain');
  const theirs = await upload({ 'content-type': SEALED }, sealedFile(), gateway.registry.key(gateway.orgId).key);
  const start = (more: object) => {
    const device = { run_data: 'device', content_id: randomBytes(16).toString('hex') };
    const inputs = sealed({ kind: 'inputs' });
    return gateway.ask('POST', '/v1/runs', { method: gateway.methodId, ...device, inputs, ...more });
  };
  assert.equal((await start({ files: [file, file] })).status, 201);
  assert.deepEqual(gateway.book.starts.at(-1)?.files?.fileIds, [file]);
  const first = (await start({ files: [file] })).body.run_id;
  assert.equal((await start({ files_of: first })).status, 201);
  const { owner, fileIds, runId } = gateway.book.starts.at(-1)?.files ?? assert.fail();
  assert.deepEqual([owner, fileIds, runId], ['', [], first]);

  for (const [id, code] of [
    [plain, 'plain_file'],
    [theirs, 'unknown_file'],
    [newId('file'), 'unknown_file'],
    ['../x', 'unknown_file'],
  ]) {
    const { status, body } = await start({ files: [file, id] });
    assert.deepEqual([status, body.error], [422, 'invalid_inputs']);
    const found = body.details.map((it: { path: string; code: string }) => [it.path, it.code]);
    assert.deepEqual(found, [['/files/1', code]]);
  }
  assert.equal((await start({ files_of: 'run_none' })).status, 404);
  assert.equal((await start({ files: [file], files_of: first })).status, 400);
  assert.equal((await start({ files: Array.from({ length: 101 }, () => file) })).status, 400);
  const account = { method: gateway.methodId, inputs: { name: 'Ada' } };
  for (const more of [{ files: [file] }, { files_of: first }]) {
    assert.equal((await gateway.ask('POST', '/v1/runs', { ...account, ...more })).status, 400);
  }
  const { methodId: method } = gateway.registry.method(gateway.orgId, FILES);
  const named = await gateway.ask('POST', '/v1/runs', { method, inputs: { a: { file_id: file } } });
  assert.deepEqual([named.status, named.body.details[0].code], [422, 'sealed_file']);
});
