import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { keyCredential, NO_CREDENTIAL } from './credential.ts';
import { ServerApi } from './server-api.ts';
import { readServerFacts } from './server-facts.ts';
import type { ServerRefusal } from './server-refusal.ts';

const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };
const servers: Server[] = [];
const interrupt = new AbortController();

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function api(answer: RequestListener, credentials = { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL }) {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new ServerApi({ baseUrl, facts: FACTS, credentials, interrupted: interrupt.signal });
}

/** The error a promise rejects with. */
async function refusal(promise: Promise<unknown>): Promise<ServerRefusal> {
  return promise.then(
    () => assert.fail('it was not refused'),
    (error) => error,
  );
}

test('a refusal carries the code, the sentence, the findings and the facts of the server', async () => {
  const body = {
    error: 'version_conflict',
    message: 'Somebody saved meanwhile.',
    details: [{ path: '/a', code: 'x', message: 'y' }],
    current_version: 'ver_1',
    request_id: 'r1',
  };
  const server = await api((_, response) => response.writeHead(409).end(JSON.stringify(body)));
  const error = await refusal(server.send('POST', '/api/cli/methods/x', {}));
  assert.deepEqual([error.code, error.message, error.status], ['version_conflict', 'Somebody saved meanwhile', 409]);
  assert.equal(error.body.current_version, 'ver_1');
  assert.deepEqual(error.details, body.details);
});

test('a proxy’s own refusal is a refusal too, and a reply that is not JSON is reported', async () => {
  const server = await api(({ url }, response) =>
    url === '/ok' ? response.end('<html>') : response.writeHead(502).end('<html>'),
  );
  const error = await refusal(server.get('/down'));
  assert.deepEqual([error.code, error.message], ['unavailable', 'the server answered 502']);
  assert.equal((await refusal(server.get('/ok'))).code, 'bad_reply');
});

test('a reply of another shape is reported as such, and is not a fault of the command', async () => {
  const replies = ['7', 'null', '"text"', '{"items": {}}', '[]'];
  for (const reply of replies) {
    const server = await api((_, response) => response.end(reply));
    const all = async () => {
      for await (const _item of server.items('/api/methods')) assert.fail('there are none');
    };
    assert.equal((await refusal(all())).code, 'bad_reply', reply);
  }
});

test('a busy server is asked again where that is harmless, and only there', async () => {
  const asked: string[] = [];
  const busyOnce = (request: IncomingMessage) => {
    asked.push(`${request.method} ${request.url}`);
    return asked.filter((line) => line.endsWith(request.url ?? '')).length === 1;
  };
  const server = await api((request, response) => {
    if (busyOnce(request))
      response.writeHead(503, { 'retry-after': '0' }).end('{"error":"unavailable","message":"No."}');
    else response.end('{"fine":true}');
  });
  assert.deepEqual(await server.get('/a'), { fine: true });
  assert.equal((await refusal(server.send('POST', '/b', {}))).code, 'unavailable');
  assert.equal((await server.send('POST', '/c', {}, { idempotent: true })).status, 200);
  assert.deepEqual(asked, ['GET /a', 'GET /a', 'POST /b', 'POST /c', 'POST /c']);
});

test('a busy server may say when by a date, also when it is asked for its description', async () => {
  const asked: string[] = [];
  const facts = { machine_audience: 'methods' };
  const { baseUrl } = await api((request, response) => {
    asked.push(request.url ?? '');
    const status = asked.length === 1 ? 429 : 200;
    response.writeHead(status, { 'retry-after': new Date(0).toUTCString() }).end(JSON.stringify(facts));
  });
  const { signal } = new AbortController();
  assert.equal((await readServerFacts(baseUrl, signal)).machineAudience, 'methods');
  assert.deepEqual(asked, ['/.well-known/methods', '/.well-known/methods']);
  const busy = await api((_, response) => response.writeHead(429).end('{"error":"rate_limited"}'));
  assert.equal((await refusal(readServerFacts(busy.baseUrl, signal))).code, 'rate_limited');
});

test('a server that stays busy is not awaited', async () => {
  const server = await api((_, response) => response.writeHead(429, { 'retry-after': '3600' }).end('{}'));
  assert.equal((await refusal(server.get('/'))).status, 429);
});

test('a key opens only production routes, with only its auth part', async () => {
  const seen: Record<string, string | undefined> = {};
  const { key, authPart } = createServiceKey();
  const credentials = { forRuns: keyCredential(key), forPeople: NO_CREDENTIAL };
  const server = await api((request, response) => {
    seen[request.url ?? ''] = request.headers.authorization;
    response.end('{}');
  }, credentials);
  await server.get('/v1/runs');
  await server.get('/api/runs');
  assert.deepEqual(seen, { '/v1/runs': `Bearer ${authPart}`, '/api/runs': undefined });
});

test('items are read over as many pages as needed, up to the limit', async () => {
  const pages: string[] = [];
  const server = await api((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    pages.push(searchParams.toString());
    const from = Number(searchParams.get('cursor') ?? 0);
    const items = Array.from({ length: Math.min(Number(searchParams.get('limit')), 200) }, (_, i) => from + i);
    response.end(JSON.stringify({ items, next_cursor: String(from + items.length) }));
  });
  const all: number[] = [];
  for await (const item of server.items<number>('/api/methods', { q: 'a b' }, 450)) all.push(item);
  assert.deepEqual([all.length, all.at(-1)], [450, 449]);
  assert.deepEqual(pages, ['q=a+b&limit=200', 'q=a+b&limit=200&cursor=200', 'q=a+b&limit=50&cursor=400']);
});

test('events arrive as sent, in any pieces, and continue after the last one', async () => {
  let after: string | undefined;
  const text =
    ': hello\n\nid: 1\nevent: step\ndata: {"name":\ndata: "ä"}\n\nid: 2\r\ndata:end\r\n\r\nid: 3\ndata: half';
  const server = await api((request, response) => {
    after = request.headers['last-event-id'] as string | undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(text);
    const send = (at: number) => {
      if (at >= bytes.length) return response.end();
      response.write(bytes.subarray(at, at + 7), () => setImmediate(send, at + 7));
    };
    send(0);
  });
  const events = [];
  const { signal } = new AbortController();
  for await (const event of server.stream('/e', signal, { lastEventId: '0' })) events.push(event);
  assert.deepEqual(events, [
    { id: '1', event: 'step', data: '{"name":\n"ä"}' },
    { id: '2', event: 'message', data: 'end' },
  ]);
  assert.equal(after, '0');
});

test('a broken stream is an error, and a closed one is not', async () => {
  const broken = await api((_, response) => {
    response.writeHead(200).write('data: 1\n\n', () => setImmediate(() => response.destroy()));
  });
  const { signal } = new AbortController();
  const whole = async () => {
    for await (const { data } of broken.stream('/e', signal)) assert.equal(data, '1');
  };
  assert.equal((await refusal(whole())).code, 'unreachable');
  const open = await api((_, response) => response.writeHead(200).write('data: 1\n\n'));
  for await (const { data } of open.stream('/e', signal)) {
    assert.equal(data, '1');
    break;
  }
});
