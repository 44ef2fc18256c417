// Many calls at once, and clients that never read: each call is answered, and what is held stays bounded.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { type ApiFixture, commonRegistryApi, GREETING } from '../testing/api.fixture.ts';
import { MCP } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

const MIB = 1 << 20;

let api: ApiFixture;
before(async () => {
  api = await commonRegistryApi();
});
after(() => api[Symbol.asyncDispose]());

const tokenOf = (sub: string, org: string) => api.issuer.token({ aud: MCP, org_id: org, sub, role: 'member' });
const agentOf = (token: string) => new McpAgent({ url: `http://127.0.0.1:${api.port}/mcp`, token });
const heldBytes = () => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test('of 1,000 calls at once each is done or refused with when to come again, and no other organization fails', async () => {
  const agent = agentOf(await tokenOf('eager', 'thousand'));
  const other = agentOf(await tokenOf('calm', 'neighbour'));
  const { data } = await agent.done('create_workflow', { idempotency_key: randomUUID(), source: GREETING });
  const before = heldBytes();
  const args = { method_id: data.method.id };
  const calls = Array.from({ length: 1_000 }, () =>
    agent.request('tools/call', { name: 'get_method_source', arguments: args }),
  );
  const calm = await other.done('list_methods');
  assert.deepEqual(calm.data.methods, []);
  const replies = await Promise.all(calls);
  for (const { status, headers, last } of replies) {
    if (status === 200) assert.equal(last.result.structuredContent.source, GREETING);
    else
      assert.deepEqual(
        [status, last.error.data.error, Number(headers.get('retry-after')) > 0],
        [429, 'rate_limited', true],
      );
  }
  assert.ok(replies.filter(({ status }) => status === 200).length >= 100);
  assert.ok(heldBytes() - before < 200 * MIB);
});

test('a client that never reads holds a bounded part of its replies, and others are served', async () => {
  const token = await tokenOf('silent', 'unread');
  const earlier = api.log.filter(({ route, status }) => route === '/mcp' && status === 200).length;
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: agentOf(token).params(),
  });
  const head = [
    'POST /mcp HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    'mcp-protocol-version: 2026-07-28',
    'mcp-method: tools/list',
    `content-length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const listed = () => api.log.filter(({ route, status }) => route === '/mcp' && status === 200).length - earlier;
  const before = heldBytes();
  const sockets: Socket[] = [];
  for (let n = 0; n < 20; n++) {
    const socket = connect(api.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause().on('error', () => {});
    socket.write(`${head}\r\n\r\n${body}`.repeat(90));
    sockets.push(socket);
  }
  try {
    // The system takes the first replies of each connection.
    await until('replies wait for their reader', () => listed() >= 20 * 10);
    const other = agentOf(await tokenOf('reader', 'unread'));
    for (let n = 0; n < 5; n++) assert.equal((await other.request('tools/list')).status, 200);
    assert.ok(heldBytes() - before < 200 * MIB, `${(heldBytes() - before) / MIB} MiB`);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
