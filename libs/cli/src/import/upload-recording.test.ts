import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, test } from 'node:test';
import type { CommandError } from '../errors/command-error.ts';
import { NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { uploadRecording } from './upload-recording.ts';

const TEXT = '{"log": {}}';
const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };
const METHOD = { id: 'm1', production_id: 'wf_m1' };

type Content = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let folder: string;
let server: Server;
/** The requests for the content, as `VERB token`. */
let asked: string[];
let links: number;
let content: Content;
/** Part of the answer to the request for a link. */
let token: unknown;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'methods-upload-'));
  writeFileSync(join(folder, 'recording.har'), TEXT);
  [asked, links, token] = [[], 0, undefined];
  server = createServer(async (request, response) => {
    const body = String(await buffer(request));
    if (request.url === '/api/workflow-uploads') {
      const upload = { id: 'upl_1', token: token ?? `t${++links}`, state: 'waiting' };
      response.writeHead(201).end(JSON.stringify({ upload, created: true }));
    } else if (request.url?.endsWith('/content')) {
      asked.push(`${request.method} ${request.headers.authorization?.replace('WorkflowUpload ', '')}`);
      content(request, response, body);
    } else if (request.url?.startsWith('/api/methods/')) response.end(JSON.stringify(METHOD));
    else response.end(JSON.stringify({ upload: { state: 'ready' }, method: { id: 'm1' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function upload() {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal: interrupted } = new AbortController();
  const credentials = { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL };
  const api = new ServerApi({ baseUrl, facts: FACTS, credentials, interrupted });
  return uploadRecording(api, join(folder, 'recording.har'), undefined, interrupted);
}

async function refusal(): Promise<CommandError> {
  return upload().then(
    () => assert.fail('it was not refused'),
    (error) => error,
  );
}

const offset = (bytes: number | string) => ({ 'upload-offset': String(bytes) });

test('a recording continues where its connection broke', async () => {
  let stored = '';
  content = (request, response, body) => {
    if (request.method === 'HEAD') return response.writeHead(200, offset(stored.length)).end();
    assert.equal(request.headers['upload-offset'], String(stored.length));
    if (stored === '') {
      stored = body.slice(0, 4);
      return response.destroy();
    }
    stored += body;
    response.writeHead(204, offset(stored.length)).end();
  };
  assert.deepEqual(await upload(), { method: METHOD, created: true });
  assert.equal(stored, TEXT);
});

test('an expired link is requested again', async () => {
  content = (request, response) => {
    const isOld = request.headers.authorization === 'WorkflowUpload t1';
    response.writeHead(isOld ? 401 : 200, offset(TEXT.length)).end();
  };
  await upload();
  assert.deepEqual(asked, ['HEAD t1', 'HEAD t2']);
});

test('a permanent refusal is reported at once, with the message of the server', async () => {
  content = (request, response) => {
    if (request.method === 'HEAD') return response.writeHead(200, offset(0)).end();
    response.writeHead(413).end('{"error": "too_large", "message": "It is too large."}');
  };
  const { code, message } = await refusal();
  assert.deepEqual([code, message], ['too_large', 'It is too large']);
  assert.deepEqual(asked, ['HEAD t1', 'PATCH t1']);
});

test('an impossible offset is not retried', async () => {
  for (const wrong of ['', '-1', '1e3', 'NaN', String(TEXT.length + 1), '9'.repeat(30)]) {
    asked = [];
    content = (_, response) => response.writeHead(200, offset(wrong)).end();
    assert.equal((await refusal()).code, 'bad_reply', wrong);
    assert.equal(asked.length, 1);
  }
});

test('neither the token nor the recording follows a redirect', async () => {
  content = (_, response) => response.writeHead(307, { location: '/elsewhere/content' }).end();
  assert.equal((await refusal()).code, 'http_307');
  assert.equal(asked.length, 1);
});

test('an invalid token is not sent, and not repeated in the error', async () => {
  content = (_, response) => response.writeHead(200, offset(TEXT.length)).end();
  for (token of ['secret\r\nx: y', '', 7, { a: 1 }]) {
    const error = await refusal();
    assert.equal(error.code, 'bad_reply');
    assert.ok(!error.message.includes('secret'));
    assert.deepEqual(asked, []);
  }
});
