// Many calls at once, and clients that never read: each call is answered, and what is held stays bounded.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { until } from '@methods/test/harness/until';
import { gatewayFixture } from '../testing/gateway.fixture.ts';
import { heldClock } from '../testing/held-clock.fixture.ts';
import { issuerConfig, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

const MIB = 1 << 20;

let issuer: TestIssuer;
before(async () => {
  issuer = await TestIssuer.started();
});
after(() => issuer[Symbol.asyncDispose]());

/** A busy machine may take longer over a request than a gateway allows. */
async function gatewayOf(options: Parameters<typeof gatewayFixture>[0] = {}) {
  const people = { issuer: issuerConfig(issuer), publicUrl: PUBLIC_URL, mcpUrl: MCP };
  const gateway = await gatewayFixture({ connectionsMax: 4_000, ...people, ...options });
  gateway.app.server.headersTimeout = 0;
  gateway.app.server.requestTimeout = 0;
  return gateway;
}

type Gateway = Awaited<ReturnType<typeof gatewayOf>>;
const tokenOf = (sub: string, org: string) => issuer.token({ aud: MCP, org_id: org, sub, role: 'member' });
const agentOf = async ({ port }: Gateway, sub: string, org: string) =>
  new McpAgent({ url: `http://127.0.0.1:${port}/mcp`, token: await tokenOf(sub, org) });
const heldBytes = () => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test('of 1,000 calls at once each is done or refused with when to come again, and no other organization fails', async () => {
  await using gateway = await gatewayOf();
  const eager = await agentOf(gateway, 'eager', 'thousand');
  const calm = await agentOf(gateway, 'calm', 'neighbour');
  const { methodId } = gateway.registry.method(gateway.registry.accounts.orgId('thousand'), gateway.source);
  const { data } = await eager.done('start_run', { method_id: `wf_${methodId}`, inputs: { name: 'Ada' } });
  const before = heldBytes();
  const calls = Array.from({ length: 1_000 }, () =>
    eager.request('tools/call', { name: 'get_run', arguments: { run_id: data.run_id } }),
  );
  assert.deepEqual((await calm.done('list_runs')).data.runs, []);
  const replies = await Promise.all(calls);
  for (const { status, headers, last } of replies) {
    if (status === 200) assert.equal(last.result.structuredContent.run_id, data.run_id);
    else
      assert.deepEqual(
        [status, last.error.data.error, Number(headers.get('retry-after')) > 0],
        [429, 'rate_limited', true],
      );
  }
  assert.ok(replies.filter(({ status }) => status === 200).length >= 100);
  assert.ok(heldBytes() - before < 200 * MIB);
});

/** A connection that reads nothing; `ask` requests the list of tools. */
async function deafClient(gateway: Gateway, sub: string, org: string) {
  const params = (await agentOf(gateway, sub, org)).params();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
  const head = [
    'POST /mcp HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${await tokenOf(sub, org)}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    'mcp-protocol-version: 2026-07-28',
    'mcp-method: tools/list',
    `content-length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.pause().on('error', () => {});
  return { socket, ask: (times: number) => void socket.write(`${head}\r\n\r\n${body}`.repeat(times)) };
}

test('clients that never read hold a bounded part of their replies, and others are served', async () => {
  await using gateway = await gatewayOf();
  const listed = () => gateway.log.filter(({ route, status }) => route === '/mcp' && status === 200).length;
  const before = heldBytes();
  const sockets: Socket[] = [];
  try {
    for (let n = 0; n < 20; n++) {
      const { socket, ask } = await deafClient(gateway, 'silent', 'unread');
      sockets.push(socket);
      ask(90);
    }
    // The system takes the first replies of each connection.
    await until('replies wait for their reader', () => listed() >= 20 * 10);
    const other = await agentOf(gateway, 'reader', 'unread');
    for (let n = 0; n < 5; n++) assert.equal((await other.request('tools/list')).status, 200);
    assert.ok(heldBytes() - before < 200 * MIB, `${(heldBytes() - before) / MIB} MiB`);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('a client that does not read a reply in its time is disconnected', async () => {
  const { clock, held } = heldClock();
  await using gateway = await gatewayOf({ clock });
  const { socket, ask } = await deafClient(gateway, 'silent', 'closed');
  const connections = () =>
    new Promise<number>((resolve) => gateway.app.server.getConnections((_error, count) => resolve(count)));
  await until('it is connected', async () => (await connections()) === 1);
  const replied = () => gateway.log.filter(({ route }) => route === '/mcp').length;
  let asked = 0;
  await until('replies wait for their reader', () => {
    ask(4);
    asked += 4;
    return asked - replied() > 100;
  });
  await until('it is disconnected', async () => {
    for (const end of held) end();
    return (await connections()) === 0;
  });
  socket.destroy();
});

test('the clients of a person share a rate, and another person has their own', async () => {
  await using gateway = await gatewayOf({ rateLimitPerKey: 1, clock: { ...systemClock, monotonicMs: () => 0 } });
  const ask = async (sub: string) => (await agentOf(gateway, sub, 'rated')).request('tools/list');
  const replies = [await ask('one'), await ask('one'), await ask('one'), await ask('two')];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 429, 200],
  );
  const { last, headers } = replies[2] ?? assert.fail();
  assert.deepEqual([last.error.data.error, Number(headers.get('retry-after')) > 0], ['rate_limited', true]);
});
