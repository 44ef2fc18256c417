import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { newId } from '@methods/base/ids';
import { type ApiReply, assertRefused } from '../../testing/api.fixture.ts';
import { fileApi } from '../../testing/file-api.fixture.ts';
import { until } from '../../testing/gateway.fixture.ts';

const HAR = readFileSync(new URL('../../../../libs/method/src/recording/fixtures/shop-refund.har', import.meta.url));
const MIB = 1024 * 1024;
const TUS = { 'tus-resumable': '1.0.0' };
const PIECE = { ...TUS, 'content-type': 'application/offset+octet-stream' };

interface Link {
  readonly id: string;
  readonly path: string;
  readonly token: string;
}

const { running, member, viewer, stranger } = fileApi();

function announce(size: number, more: object = {}, as = member): Promise<ApiReply> {
  const body = {
    idempotency_key: randomUUID(),
    file_name: 'refund an order.har',
    content_type: 'application/json',
    size,
  };
  return as('POST', '/api/workflow-uploads', { ...body, ...more });
}

async function link(size: number, more: object = {}): Promise<Link> {
  const { status, body } = await announce(size, more);
  assert.equal(status, 201, JSON.stringify(body));
  const { id, upload_url: url, token } = body.upload;
  return { id, token, path: new URL(url).pathname };
}

/** Sends bytes with the link's token. */
async function send(
  method: string,
  { path, token }: Link,
  bytes: Uint8Array | null,
  headers: Record<string, string> = {},
): Promise<ApiReply> {
  const response = await fetch(`http://127.0.0.1:${running().port}${path}`, {
    method,
    headers: { authorization: `WorkflowUpload ${token}`, ...headers },
    ...(bytes === null ? {} : { body: Buffer.from(bytes) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

async function state(
  id: string,
): Promise<{ upload: { state: string; offset: number }; method: { id: string } | null }> {
  return (await viewer('GET', `/api/workflow-uploads/${id}`)).body;
}

/** Announces the whole and breaks the connection after these bytes. */
async function cutOff({ path, token }: Link, method: string, bytes: Uint8Array, headers: Record<string, string>) {
  await new Promise<void>((resolve) => {
    const sending = httpRequest({
      port: running().port,
      path,
      method,
      headers: { authorization: `WorkflowUpload ${token}`, ...headers },
    });
    sending.on('error', () => {}).on('close', resolve);
    sending.write(bytes, () => setImmediate(() => sending.destroy()));
  });
}

test('a recording is sent whole and becomes a method under the key of its upload', async () => {
  const key = randomUUID();
  const link1 = await link(HAR.length, { idempotency_key: key, display_name: 'Refunds' });
  assert.match(link1.path, new RegExp(`^/api/workflow-uploads/${link1.id}/content$`));
  assert.match(link1.token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal((await state(link1.id)).upload.state, 'waiting');
  const { status, body } = await send('PUT', link1, HAR, { 'content-type': 'application/json' });
  assert.deepEqual([status, body.upload.offset, body.upload.id], [201, HAR.length, link1.id]);
  await until(async () => (await state(link1.id)).upload.state === 'ready');
  const { method } = await state(link1.id);
  const made = (await viewer('GET', `/api/methods/${method?.id}`)).body;
  assert.deepEqual([made.display_name, made.status, made.build.state], ['Refunds', 'ready', 'succeeded']);
  assert.deepEqual(made.available_records, ['source', 'recording']);
  const sha256 = createHash('sha256').update(key).digest('hex');
  assert.equal((await viewer('GET', `/api/workflow-creation-requests/${sha256}`)).body.method.id, method?.id);
  const named = await member('POST', '/api/methods', { idempotency_key: randomUUID(), upload_id: link1.id });
  assert.deepEqual([named.status, named.body.method.id], [200, method?.id]);
  assert.equal((await send('PUT', link1, HAR)).status, 201);
});

test('a key belongs to one kind of creation, and a repeat replaces the earlier token', async () => {
  const key = randomUUID();
  const first = await link(10, { idempotency_key: key });
  const again = await announce(99, { idempotency_key: key });
  assert.deepEqual([again.status, again.body.created, again.body.upload.id], [200, false, first.id]);
  assert.deepEqual([again.body.upload.size, again.body.upload.token === first.token], [10, false]);
  assertRefused(await send('HEAD', first, null), 401, undefined);
  assert.equal((await send('HEAD', { ...first, token: again.body.upload.token }, null)).status, 200);
  const other = await member('POST', '/api/methods', { idempotency_key: key, agent_prompt: 'x' });
  assertRefused(other, 409, 'idempotency_conflict');
  const taken = randomUUID();
  await member('POST', '/api/methods', { idempotency_key: taken, agent_prompt: 'x' });
  assertRefused(await announce(10, { idempotency_key: taken }), 409, 'idempotency_conflict');
});

test('an upload is announced within bounds', async () => {
  assertRefused(await announce(200 * MIB + 1), 413, 'too_large', 'recording_bytes');
  assertRefused(await announce(0), 400, 'invalid_request', 'size');
  assertRefused(await announce(1.5), 400, 'invalid_request', 'type');
  assertRefused(await announce(10, { file_name: 'x'.repeat(10_000) }), 400, 'invalid_request', 'file_name_length');
  assertRefused(await announce(10, { filename: 'x' }), 400, 'invalid_request', 'unknown_field');
  assertRefused(await announce(10, {}, viewer), 403, 'forbidden');
  assert.equal((await announce(200 * MIB)).status, 201);
});

test('another upload’s token, a person’s token and no token open nothing', async () => {
  const [mine, other] = [await link(10), await link(10)];
  for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS']) {
    const bytes = method === 'HEAD' || method === 'OPTIONS' ? null : Buffer.alloc(10);
    for (const token of [other.token, 'x', '']) {
      assert.equal((await send(method, { ...mine, token }, bytes, { ...PIECE, 'upload-offset': '0' })).status, 401);
    }
  }
  assert.equal((await viewer('PUT', mine.path, '{}')).status, 401);
  assertRefused(await stranger('GET', `/api/workflow-uploads/${mine.id}`), 404, 'not_found');
  assertRefused(await viewer('GET', `/api/workflow-uploads/${newId('upl')}`), 404, 'not_found');
  assertRefused(await viewer('GET', '/api/workflow-uploads/upl_1'), 404, 'not_found');
  assert.equal((await send('GET', mine, null)).status, 404);
  assert.deepEqual((await state(mine.id)).upload.offset, 0);
});

test('more or less than announced is refused, and the recording still waits', async () => {
  const upload = await link(3 * MIB);
  const whole = randomBytes(3 * MIB + 1);
  assertRefused(await send('PUT', upload, whole), 413, 'too_large', 'upload_size');
  assertRefused(await send('PUT', upload, whole.subarray(0, MIB)), 400, 'invalid_request', 'upload_size');
  assert.equal((await state(upload.id)).upload.offset, 0);
  const stream = new ReadableStream({
    start(controller) {
      for (let at = 0; at < whole.length; at += MIB) controller.enqueue(whole.subarray(at, at + MIB));
      controller.close();
    },
  });
  const reply = await fetch(`http://127.0.0.1:${running().port}${upload.path}`, {
    method: 'PUT',
    headers: { authorization: `WorkflowUpload ${upload.token}` },
    body: stream,
    duplex: 'half',
  } as RequestInit);
  assert.equal(reply.status, 413);
  const { upload: after, method } = await state(upload.id);
  assert.deepEqual([after.state, method], ['waiting', null]);
  assert.ok(after.offset < 3 * MIB);
});

test('compressed bytes are refused', async () => {
  const bomb = gzipSync(Buffer.alloc(50 * MIB));
  const upload = await link(bomb.length);
  assertRefused(await send('PUT', upload, bomb, { 'content-encoding': 'gzip' }), 415, 'invalid_request');
  assert.equal((await state(upload.id)).upload.offset, 0);
  assertRefused(
    await member('POST', '/api/workflow-uploads', gzipSync('{}').toString('latin1'), { 'content-encoding': 'gzip' }),
    400,
    'invalid_request',
  );
});

test('a broken recording is a failed build with its reason, and can be retried', async () => {
  const broken = Buffer.concat([Buffer.from('{"log":{"entries":['), gzipSync(Buffer.alloc(MIB))]);
  const upload = await link(broken.length);
  assert.equal((await send('PUT', upload, broken)).status, 201);
  await until(async () => (await state(upload.id)).upload.state === 'failed');
  const { method } = await state(upload.id);
  const failed = (await viewer('GET', `/api/methods/${method?.id}`)).body;
  assert.deepEqual([failed.status, failed.build.state], ['failed', 'failed']);
  assert.match(failed.build.error, /^\S.*\.$/s);
  const retried = await member('POST', `/api/methods/${method?.id}/retry`);
  assert.deepEqual([retried.status, retried.body.id], [202, method?.id]);
  assert.equal(retried.body.status, 'building');
  await until(async () => (await state(upload.id)).upload.state === 'failed');
});

test('a large recording continues where its connection was cut, and holds every byte once', async () => {
  const bytes = randomBytes(7 * MIB + 123);
  const upload = await link(bytes.length);
  await cutOff(upload, 'PUT', bytes.subarray(0, 3 * MIB + 500), { 'content-length': String(bytes.length) });
  await until(async () => (await state(upload.id)).upload.offset > 0);
  let offset = Number((await send('HEAD', upload, null, TUS)).headers.get('upload-offset'));
  assert.ok(offset > 0 && offset <= 3 * MIB + 500);
  await cutOff(upload, 'PATCH', bytes.subarray(offset, offset + MIB), {
    ...PIECE,
    'upload-offset': String(offset),
    'content-length': String(bytes.length - offset),
  });
  await until(async () => (await state(upload.id)).upload.offset > offset);
  for (;;) {
    offset = Number((await send('HEAD', upload, null, TUS)).headers.get('upload-offset'));
    const { status } = await send('PATCH', upload, bytes.subarray(offset), {
      ...PIECE,
      'upload-offset': String(offset),
    });
    // The cut request may still be storing its bytes.
    if (status !== 409) {
      assert.equal(status, 204);
      break;
    }
  }
  const parts = await running().registry.sql`
    select b.bytes from registry.upload_parts p
    join registry.blob_parts b on b.org_id = p.org_id and b.blob_id = p.blob_id and b.part_name = p.part_name
    where p.upload_id = ${upload.id} order by p.offset_bytes`;
  assert.ok(Buffer.concat(parts.map((part) => part.bytes)).equals(bytes));
  assert.notEqual((await state(upload.id)).method, null);
});

test('a repeated PUT sends from the beginning and stores only the missing bytes', async () => {
  const bytes = randomBytes(3 * MIB);
  const upload = await link(bytes.length);
  const first = await send('PATCH', upload, bytes.subarray(0, MIB + 7), { ...PIECE, 'upload-offset': '0' });
  assert.deepEqual([first.status, first.headers.get('upload-offset')], [204, String(MIB + 7)]);
  const { status, body } = await send('PUT', upload, bytes);
  assert.deepEqual([status, body.upload.offset], [201, bytes.length]);
});

test('tus: offsets, versions and types follow its specification', async () => {
  const upload = await link(10);
  const head = await send('HEAD', upload, null, TUS);
  assert.deepEqual(
    [
      head.status,
      ...['tus-resumable', 'upload-offset', 'upload-length', 'cache-control'].map((name) => head.headers.get(name)),
    ],
    [200, '1.0.0', '0', '10', 'no-store'],
  );
  const options = await send('OPTIONS', upload, null);
  assert.deepEqual(
    [options.status, ...['tus-version', 'tus-max-size'].map((name) => options.headers.get(name))],
    [204, '1.0.0', String(200 * MIB)],
  );
  const patch = (headers: Record<string, string>, bytes = Buffer.alloc(5)) => send('PATCH', upload, bytes, headers);
  for (const version of [{}, { 'tus-resumable': '0.2.2' }]) {
    const refused = await patch({ 'content-type': PIECE['content-type'], 'upload-offset': '0', ...version });
    assertRefused(refused, 412, 'invalid_request');
    assert.equal(refused.headers.get('tus-version'), '1.0.0');
  }
  assertRefused(
    await patch({ ...PIECE, 'content-type': 'application/json', 'upload-offset': '0' }),
    415,
    'invalid_request',
  );
  assertRefused(await patch({ ...PIECE, 'upload-offset': '-1' }), 400, 'invalid_request');
  assertRefused(await patch(PIECE), 400, 'invalid_request');
  assertRefused(await patch({ ...PIECE, 'upload-offset': '3' }), 409, 'invalid_request');
  assertRefused(await patch({ ...PIECE, 'upload-offset': '0' }, Buffer.alloc(11)), 413, 'too_large', 'upload_size');
  const half = await patch({ ...PIECE, 'upload-offset': '0' });
  assert.deepEqual(
    [half.status, half.headers.get('upload-offset'), half.headers.get('tus-resumable')],
    [204, '5', '1.0.0'],
  );
  assertRefused(await patch({ ...PIECE, 'upload-offset': '0' }), 409, 'invalid_request');
  assert.equal((await patch({ ...PIECE, 'upload-offset': '5' })).status, 204);
  assert.equal((await patch({ ...PIECE, 'upload-offset': '10' }, Buffer.alloc(0))).status, 204);
});

test('a token is never in the log', async () => {
  const upload = await link(4);
  await send('PUT', upload, Buffer.from('null'));
  assert.ok(!JSON.stringify(running().log).includes(upload.token));
  assert.ok(!running().registry.log().includes(upload.token));
  assert.deepEqual(
    running().log.filter(({ level }) => level === 'error' || level === 50),
    [],
  );
});
