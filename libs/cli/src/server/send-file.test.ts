import { deepEqual, equal, rejects } from 'node:assert/strict';
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { GivenFile } from '../local-run/given-inputs.ts';
import { NO_CREDENTIAL } from './credential.ts';
import { sendFile } from './send-file.ts';
import { ServerApi } from './server-api.ts';

const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };
const BYTES = 300_000;
let server: Server;
let api: ServerApi;
let dir: string;
let file: GivenFile;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

before(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  api = new ServerApi({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    facts: FACTS,
    credentials: { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL },
    interrupted: new AbortController().signal,
  });
  dir = await mkdtemp(join(tmpdir(), 'send-'));
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  file = { path: join(dir, 'Größe 1.pdf'), name: 'Größe 1.pdf', bytes: BYTES };
  await writeFile(file.path, Buffer.alloc(BYTES, 'x'));
});

test('a file is sent unchanged, with its name, type and size', async () => {
  let bytes = 0;
  answer = async (request, response) => {
    for await (const part of request) bytes += (part as Buffer).length;
    const { 'content-type': type, 'content-length': length, 'x-file-name': name } = request.headers;
    deepEqual([type, length, name], ['application/pdf', String(BYTES), 'Gr%C3%B6%C3%9Fe%201.pdf']);
    response.writeHead(201).end('{"file_id":"file_1"}');
  };
  deepEqual(await sendFile(api, file, 'order-7781'), { file_id: 'file_1' });
  equal(bytes, BYTES);
});

test('the error for a file that grows or shrinks while it is sent names the file, not the connection', async () => {
  answer = (request) => request.resume();
  const changed = { code: 'file_changed', message: 'Größe 1.pdf changed while it was sent' };
  await appendFile(file.path, 'more');
  await rejects(sendFile(api, file, 'order-7781'), changed);
  await truncate(file.path, 10);
  await rejects(sendFile(api, file, 'order-7781'), changed);
  await rm(file.path);
  await rejects(sendFile(api, file, 'order-7781'), { code: 'ENOENT' });
});

test('a refusal before the server has read the file is reported', async () => {
  answer = (_request, response) => {
    response.writeHead(429, { connection: 'close' }).end('{"error":"rate_limited","message":"Too many."}');
  };
  await rejects(sendFile(api, file, 'order-7781'), { code: 'rate_limited', message: 'Too many' });
});
