// Servers that break in the middle of a reply, stall, or send the client elsewhere: on real connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { ownCertificate } from '@methods/test/harness/own-certificate';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { ConnectionError, Methods, type MethodsOptions } from './index.ts';

type Reply = (response: ServerResponse) => void;

const { key: apiKey } = createServiceKey();
const RUN = { run_id: 'run_1', version_id: 'ver_1', status: 'queued', timing: {} };
const WHOAMI = { org_id: 'org_1', key_id: 'key_1', content_on_devices: false, content_grants: [] };
const FILE = { file_id: 'file_1', name: 'a', bytes: 3, sha256: '', media_type: 'text/plain', expires_at: null };

let server: Server;
let baseUrl: string;
/** In turn; the last one repeats. */
let replies: Reply[];
let bodies: string[];

const json =
  (value: object, status = 200): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(value));
/** Half of what its head announces, and then nothing, or the end of the connection. */
const half =
  (ends: boolean): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"run_id":"ru', () => ends && response.destroy());
  };

before(async () => {
  server = createServer((request: IncomingMessage, response) => {
    if (request.url === '/v1/whoami') return json(WHOAMI)(response);
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.once('end', () => {
      bodies.push(body);
      (replies.length > 1 ? replies.shift() : replies[0])?.(response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  bodies = [];
});
const client = (options: MethodsOptions = {}) => new Methods({ apiKey, baseUrl, maxRetries: 1, ...options });

test('a reply that breaks off is asked for again with the same key, and then a typed error', async () => {
  replies = [half(true), json(RUN)];
  assert.equal((await client().start({ method: 'wf_1' })).run_id, 'run_1');
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
  replies = [half(true)];
  await assert.rejects(client().start({ method: 'wf_1' }), { name: 'ConnectionError', code: 'unreachable' });
});

test('a reply that stalls in the middle is a timeout, and a caller may leave before', async () => {
  replies = [half(false)];
  const slow = client({ timeout: 20, maxRetries: 0 });
  await assert.rejects(slow.start({ method: 'wf_1' }), { name: 'TimeoutError', code: 'timeout' });
  await assert.rejects(async () => {
    for await (const chunk of await slow.runs.files.download('run_1', 'steps/a/files/b')) assert.ok(chunk.length > 0);
  }, /did not reply in time/);
  const leaving = new AbortController();
  const call = client().start({ method: 'wf_1', signal: leaving.signal });
  leaving.abort(new Error('enough'));
  await assert.rejects(call, { message: 'enough' });
});

test('a reply that is far too large is not one of the service', async () => {
  replies = [(response) => response.writeHead(200).end(JSON.stringify(RUN).padEnd(65 * 1024 * 1024))];
  await assert.rejects(client().runs.get('run_1'), { name: 'UnexpectedReplyError' });
  assert.equal(bodies.length, 1);
});

test('a redirect is not followed: the key goes to no other address', async () => {
  replies = [(response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()];
  await assert.rejects(client({ maxRetries: 0 }).runs.get('run_1'), { name: 'ConnectionError' });
});

test('bytes are sent again after a failure in passing, and a stream is not', async () => {
  const busy = json({ error: 'unavailable', message: 'Busy.' }, 503);
  replies = [busy, json(FILE)];
  assert.equal((await client().files.upload(Buffer.from('abc'), { name: 'a' })).file_id, 'file_1');
  replies = [busy, json(FILE)];
  await client().files.upload(new Blob(['abc']), { name: 'a' });
  assert.deepEqual(bodies, ['abc', 'abc', 'abc', 'abc']);
  replies = [busy];
  await assert.rejects(client().files.upload(new Blob(['abc']).stream(), { name: 'a' }), { name: 'ServerError' });
  assert.equal(bodies.length, 5);
});

test('a file whose fields cannot be sent is refused before any request', async () => {
  replies = [json(FILE)];
  for (const [field, text] of [
    ['mediaType', 'text/a\nx: b'],
    ['idempotencyKey', 'invoice-€'],
    ['name', 'a\ud800'],
  ] as const) {
    const upload = client().files.upload(Buffer.from('abc'), { name: 'a', [field]: text });
    await assert.rejects(upload, { name: 'InvalidRequestError', message: new RegExp(`^The ${field} of the file `) });
  }
  assert.deepEqual(bodies, []);
  await client().files.upload(Buffer.from('abc'), { name: 'a', mediaType: 'text/plain\n' });
});

test('a stream of events that breaks continues, and one that cannot be opened again is an error', async () => {
  const events =
    (text: string): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text, () => response.destroy());
    };
  replies = [
    events(`event: run\nid: 1\ndata: ${JSON.stringify({ ...RUN, steps: [] })}\n\n`),
    events(`event: status\nid: 2\ndata: ${JSON.stringify({ ...RUN, status: 'succeeded' })}\n\n`),
  ];
  const seen: string[] = [];
  for await (const { event } of client().runs.events('run_1')) seen.push(event);
  assert.deepEqual(seen, ['run', 'status']);
  for (const data of ['{"run_id', 'null', '1']) {
    replies = [events(`event: run\nid: 1\ndata: ${data}\n\n`)];
    await assert.rejects(client().runs.events('run_1').next(), { name: 'UnexpectedReplyError' });
  }
  replies = [events('event: run\nid: 1\nda')];
  await assert.rejects(client({ maxRetries: 0 }).runs.events('run_1').next(), { name: 'ConnectionError' });
});

test('the error of a refused certificate says what is wrong with it', async () => {
  const { key, certificate } = await ownCertificate(tempFolder('client-tls'));
  const tls = createTlsServer({ key, cert: certificate });
  tls.listen(0, '127.0.0.1');
  await once(tls, 'listening');
  const address = `https://localhost:${(tls.address() as AddressInfo).port}`;
  const client = new Methods({ apiKey, baseUrl: address, maxRetries: 0 });
  await assert.rejects(client.runs.get('run_1'), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.code, 'unreachable');
    assert.match(error.message, /^The certificate of https:\/\/localhost:\d+ is refused: unable to verify .*\.$/);
    return true;
  });
  tls.close();
});
