import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { CommandError } from '../errors/command-error.ts';
import type { Credential } from '../server/credential.ts';
import { type AgentServer, AgentServers } from './agent-server.ts';
import { McpBridge } from './mcp-bridge.ts';

interface Asked {
  readonly message: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  isGone: boolean;
}

type Answers = (asked: Asked, response: ServerResponse) => void;

let server: Server;
let url: string;
let asked: Asked[];
let answers: Answers;

beforeEach(async () => {
  asked = [];
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const one: Asked = {
      message: JSON.parse(Buffer.concat(parts).toString()),
      headers: request.headers,
      isGone: false,
    };
    response.on('close', () => {
      one.isGone = true;
    });
    asked.push(one);
    answers(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const result = (id: unknown, value: unknown = {}) => ({ jsonrpc: '2.0', id, result: value });
const NO_TOKEN: Credential = { kind: 'none', bearer: async () => null, renew: async () => false };

interface OpenOptions {
  readonly credential?: Credential;
  readonly bounds?: object;
  readonly find?: () => Promise<AgentServer>;
  readonly waitMsMax?: number;
}

function open({ credential = NO_TOKEN, bounds = {}, find, waitMsMax = 0 }: OpenOptions = {}) {
  const [input, output, interrupt] = [new PassThrough(), new PassThrough(), new AbortController()];
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const interrupted = interrupt.signal;
  const servers = new AgentServers({ find: find ?? (async () => ({ url, credential })), waitMsMax, interrupted });
  const ended = new McpBridge({ servers, input, output, interrupted, bounds }).run();
  return {
    send: (...messages: object[]) => {
      for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    },
    input,
    interrupt,
    ended,
    said: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    async whole() {
      input.end();
      await ended;
      return this.said();
    },
  };
}

test('requests get their replies in any order, and the input’s end waits for them', async () => {
  answers = ({ message: { id, method } }, response) => {
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'plain') return json(response, result(id, { plain: true }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
    response.write(`: open\n\nid: 0\ndata: \n\ndata: ${JSON.stringify(progress)}\n\n`);
    response.end(`event: message\ndata: ${JSON.stringify(result(id, { streamed: true }))}\n\n`);
  };
  const bridge = open();
  bridge.send({ method: 'notifications/initialized' }, { id: 1, method: 'plain' }, { id: 'two', method: 'streamed' });
  const said = await bridge.whole();
  assert.deepEqual(
    said.filter(({ id }) => id === 1),
    [result(1, { plain: true })],
  );
  const streamed = said.filter(({ id }) => id !== 1);
  assert.deepEqual(
    streamed.map(({ method, result: value }) => method ?? value),
    ['notifications/progress', { streamed: true }],
  );
  assert.equal(asked.length, 3);
});

test('each era’s headers repeat what its messages say', async () => {
  answers = ({ message: { id } }, response) =>
    json(response, result(id, { protocolVersion: '2025-11-25' }), 200, { 'mcp-session-id': 'client.x' });
  const bridge = open();
  bridge.send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  await until('it is begun', () => bridge.said().length === 1);
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  bridge.send(
    { id: 2, method: 'tools/call', params: { name: 'a' } },
    { id: 3, method: 'tools/call', params: { name: 'run_größe', _meta } },
    { id: 4, method: 'server/discover', params: { _meta, name: 'no' } },
  );
  await bridge.whole();
  const of = (id: number) => {
    const { headers } = asked.find(({ message }) => message.id === id) ?? assert.fail(`${id} was not sent`);
    return ['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'].map((name) => headers[name] ?? null);
  };
  assert.deepEqual(of(1), [null, null, null, null]);
  assert.deepEqual(of(2), ['2025-11-25', 'client.x', null, null]);
  const encoded = `=?base64?${Buffer.from('run_größe').toString('base64')}?=`;
  assert.deepEqual(of(3), ['2026-07-28', null, 'tools/call', encoded]);
  assert.deepEqual(of(4), ['2026-07-28', null, 'server/discover', null]);
});

test('a refused token is renewed once, and a missing sign-in is reported to the client', async () => {
  const renewed: Credential = {
    kind: 'sign-in',
    bearer: async () => (asked.length === 0 ? 'old' : 'new'),
    renew: async () => true,
  };
  answers = ({ message: { id }, headers }, response) =>
    headers.authorization === 'Bearer new' ? json(response, result(id)) : json(response, {}, 401);
  const bridge = open({ credential: renewed });
  bridge.send({ id: 1, method: 'ping' });
  assert.deepEqual(await bridge.whole(), [result(1)]);
  answers = (_asked, response) => json(response, {}, 401);
  const refused = open({ credential: renewed });
  refused.send({ id: 1, method: 'ping' });
  const [{ error }] = await refused.whole();
  assert.match(error.message, /does not accept the sign-in. Hint: methods mcp login/);
  assert.equal(asked.length, 4);
});

test('large messages pass both ways, and one over the bound is refused without being buffered', async () => {
  answers = ({ message: { id, params } }, response) => json(response, result(id, params));
  const bridge = open({ bounds: { messageBytesMax: 3_000_000 } });
  const text = 'ä'.repeat(1_000_000);
  bridge.input.write(`{"jsonrpc":"2.0","id":0,"params":"${'x'.repeat(4_000_000)}"}\n`);
  bridge.send({ id: 1, method: 'echo', params: { text } });
  bridge.input.write('not json\n[]\n\n');
  const said = await bridge.whole();
  assert.deepEqual(
    said.filter(({ id }) => id === null).map(({ error }) => error.code),
    [-32600, -32700, -32600],
  );
  assert.equal(said.find(({ id }) => id === 1).result.text, text);
});

test('a server that stalls, disconnects or answers something else ends only that request', async () => {
  answers = ({ message: { id, method } }, response) => {
    switch (method) {
      case 'stall':
        return;
      case 'stall_in_stream':
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      case 'break':
        return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n');
      case 'html':
        return response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
      case 'refuse':
        return json(response, { jsonrpc: '2.0', id: null, error: { code: -32020, message: 'Other header' } }, 400);
      case 'limit':
        return json(response, { error: 'rate_limited', message: 'Too many requests.' }, 429);
      default:
        return json(response, result(id));
    }
  };
  const bridge = open({ bounds: { silentMsMax: 3_000 } });
  const methods = ['stall', 'stall_in_stream', 'break', 'html', 'refuse', 'limit', 'good'];
  bridge.send(...methods.map((method) => ({ id: method, method })));
  const said = await bridge.whole();
  const of = (id: string) => said.find((each) => each.id === id)?.error?.message;
  assert.match(of('stall'), /sent nothing for 3 seconds/);
  assert.match(of('stall_in_stream'), /sent nothing/);
  assert.match(of('break'), /ended its reply before the result/);
  assert.match(of('html'), /answered 502/);
  assert.equal(of('refuse'), 'Other header');
  assert.equal(of('limit'), 'Too many requests.');
  assert.deepEqual(
    said.find(({ id }) => id === 'good'),
    result('good'),
  );
  assert.equal(said.length, methods.length);
});

test('a cancelled request is given up at the server and gets no reply', async () => {
  answers = ({ message: { id } }, response) => {
    if (id === undefined) response.writeHead(202).end();
  };
  const bridge = open();
  bridge.send({ id: 7, method: 'slow' });
  await until('it is sent', () => asked.length === 1);
  bridge.send({ method: 'notifications/cancelled', params: { requestId: 7 } });
  await until('it is given up', () => asked[0]?.isGone === true);
  assert.deepEqual(await bridge.whole(), []);
});

test('more than the bound in progress are refused; an id is used for one request at a time', async () => {
  const held: (() => void)[] = [];
  answers = ({ message: { id } }, response) => held.push(() => json(response, result(id)));
  const bridge = open({ bounds: { underWayMax: 2 } });
  bridge.send({ id: 1, method: 'a' }, { id: 1, method: 'a' }, { id: 2, method: 'a' }, { id: 3, method: 'a' });
  await until('two are sent', () => held.length === 2 && bridge.said().length === 2);
  assert.deepEqual(
    bridge.said().map(({ id, error }) => [id, error.code]),
    [
      [1, -32600],
      [3, -32000],
    ],
  );
  for (const release of held) release();
  assert.deepEqual(
    (await bridge.whole())
      .slice(2)
      .map(({ id }) => id)
      .sort(),
    [1, 2],
  );
});

test('the end of the input ends listening requests, and an interrupt ends everything', async () => {
  answers = (_asked, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
  const listening = open({ bounds: { silentMsMax: 100 } });
  listening.send({ id: 1, method: 'subscriptions/listen' });
  await until('it listens', () => asked.length === 1);
  assert.deepEqual(await listening.whole(), []);
  const interrupted = open();
  interrupted.send({ id: 2, method: 'slow' });
  await until('it is sent', () => asked.length === 2);
  interrupted.interrupt.abort();
  await interrupted.ended;
  await until('it is given up', () => asked[1]?.isGone === true);
  assert.deepEqual(interrupted.said(), []);
});

test('a client that never reads buffers no more than the requests in progress', async () => {
  answers = ({ message: { id } }, response) => json(response, result(id, 'x'.repeat(100_000)));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const interrupted = new AbortController().signal;
  const ended = new McpBridge({
    servers: new AgentServers({ find: async () => ({ url, credential: NO_TOKEN }), interrupted }),
    input,
    output,
    interrupted,
    bounds: { underWayMax: 4, lastMsMax: 100 },
  }).run();
  for (let id = 0; id < 40; id++) input.write(`{"jsonrpc":"2.0","id":${id},"method":"a"}\n`);
  await until('all under way are answered', () => asked.length >= 4);
  assert.ok(asked.length < 40, `${asked.length} were sent`);
  output.resume();
  input.end();
  await ended;
});

test('a server that is down at the start is waited for, once for all that ask', async () => {
  answers = ({ message: { id } }, response) => json(response, result(id));
  let searches = 0;
  const find = async () => {
    if (++searches < 3) throw new CommandError('unreachable', 'the server is down');
    return { url, credential: NO_TOKEN };
  };
  const bridge = open({ find, waitMsMax: 60_000 });
  bridge.send({ id: 1, method: 'initialize' }, { id: 2, method: 'ping' });
  assert.deepEqual((await bridge.whole()).map(({ id, error }) => [id, error]).sort(), [
    [1, undefined],
    [2, undefined],
  ]);
  assert.equal(searches, 3);
});

test('a server that stays down, or was lost, fails the request and is looked up again for the next one', async () => {
  answers = ({ message: { id, method } }, response) =>
    method === 'lose' ? void response.destroy() : json(response, result(id));
  let isUp = false;
  let searches = 0;
  const find = async () => {
    searches++;
    if (!isUp) throw new CommandError('unreachable', 'the server is down', { hint: 'start it' });
    return { url, credential: NO_TOKEN };
  };
  const bridge = open({ find });
  bridge.send({ id: 1, method: 'ping' });
  await until('it is refused', () => bridge.said().length === 1);
  assert.equal(bridge.said()[0].error.message, 'the server is down. Hint: start it');
  isUp = true;
  bridge.send({ id: 2, method: 'ping' });
  await until('it is served', () => bridge.said().length === 2);
  bridge.send({ id: 3, method: 'lose' });
  await until('it is lost', () => bridge.said().length === 3);
  assert.match(bridge.said()[2].error.message, /the connection broke|unreachable|cannot be reached/);
  bridge.send({ id: 4, method: 'ping' });
  assert.deepEqual((await bridge.whole())[3], result(4));
  assert.equal(searches, 3);
});
