import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { type ApiFixture, commonRegistryApi } from '../testing/api.fixture.ts';
import { MACHINE, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { AGENT, McpAgent } from '../testing/mcp-agent.fixture.ts';

let api: ApiFixture;
before(async () => {
  api = await commonRegistryApi();
});
after(() => api[Symbol.asyncDispose]());

const url = () => `http://127.0.0.1:${api.port}/mcp`;
const post = (headers: Record<string, string>, body = '{}') =>
  fetch(url(), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a request without a token leads to the issuer', async () => {
  const { status, headers } = await post({});
  const challenge = `Bearer resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", scope="openid profile email"`;
  assert.deepEqual([status, headers.get('www-authenticate')], [401, challenge]);
  const refused = await post(bearer('x'));
  assert.deepEqual(
    [refused.status, refused.headers.get('www-authenticate')],
    [401, `${challenge}, error="invalid_token"`],
  );
});

test('only a token for this resource, of a member of an organization, is accepted', async () => {
  const { issuer } = api;
  const token = (claims: object, options = {}) => issuer.token({ aud: MCP, org_id: 'access', ...claims }, options);
  const list = async (headers: Record<string, string>) => {
    const agent = new McpAgent({ url: url(), token: null, headers });
    return (await agent.request('tools/list')).status;
  };
  const past = Math.floor(Date.now() / 1_000) - 60;
  assert.equal(await list(bearer(await token({}))), 200);
  assert.equal(await list(bearer(await token({ aud: [MACHINE, MCP] }))), 200);
  assert.equal(await list(bearer(await token({ aud: MACHINE }))), 401, 'the audience of programs');
  assert.equal(await list(bearer(await token({ iss: 'https://other.example' }))), 401, 'another issuer');
  assert.equal(await list(bearer(await token({ exp: past }))), 401, 'expired');
  assert.equal(await list(bearer(await token({ nonce: 'n' }, { header: { typ: 'JWT' } }))), 401, 'an ID token');
  assert.equal(await list(bearer(`${await token({})}x`)), 401, 'tampered');
  assert.equal(await list(bearer(await token({ org_id: undefined }))), 403, 'no organization');
  assert.equal(await list(bearer(createServiceKey().key)), 401, 'a service key');
  assert.equal(await list({}), 401);
  const person = await api.registry.accounts.ensureUser({
    issuer: issuer.url,
    externalOrgId: 'access',
    subject: 'ada',
    claimedRole: 'admin',
  });
  const { orgId, userId } = person.member ?? assert.fail();
  const { headers, end } = await api.session(orgId, userId);
  assert.equal(await list({ ...headers, origin: PUBLIC_URL }), 401, 'the cookie');
  await end();
});

test('a removed member is refused', async () => {
  const { issuer, registry } = api;
  const admin = await api.person('admin', 'removed');
  await admin('GET', '/api/whoami');
  const leaver = { issuer: issuer.url, externalOrgId: 'removed', subject: 'leaver', claimedRole: 'member' };
  const { member } = await registry.accounts.ensureUser(leaver);
  assert.equal((await admin('DELETE', `/api/members/${member?.userId}`)).status, 200);
  const token = await issuer.token({ aud: MCP, org_id: 'removed', sub: 'leaver', role: 'member' });
  const { status, last } = await new McpAgent({ url: url(), token }).request('tools/list');
  assert.deepEqual([status, last.error.data.error], [403, 'forbidden']);
});

test('pages of other sites and other host names are refused', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'origin' });
  const list = async (headers: Record<string, string>) =>
    (await new McpAgent({ url: url(), token, headers }).request('tools/list')).status;
  for (const origin of [PUBLIC_URL, PUBLIC_URL.replace('127.0.0.1', 'localhost')]) {
    assert.equal(await list({ origin }), 200, origin);
  }
  for (const origin of ['https://evil.example', 'null', `${PUBLIC_URL}.evil.example`, 'http://127.0.0.1:8081']) {
    assert.equal(await list({ origin }), 403, origin);
  }
  const hostStatus = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host, ...bearer(token) };
      const sent = request({ host: '127.0.0.1', port: api.port, path: '/mcp', headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      sent.on('error', reject).end();
    });
  for (const host of ['127.0.0.1', 'localhost:1', '[::1]:80']) assert.equal(await hostStatus(host), 405, host);
  for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil:80']) {
    assert.equal(await hostStatus(host), 403, host);
  }
});

test('GET and DELETE are answered with 405 and the allowed methods', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'verbs' });
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await fetch(url(), { method, headers: bearer(token) });
    assert.deepEqual([status, headers.get('allow')], [405, 'POST'], method);
    assert.equal((await fetch(url(), { method })).status, 401, method);
  }
});

test('bodies that are too large, not JSON or a batch are refused, and no tool is called', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'bodies' });
  const agent = new McpAgent({ url: url(), token });
  const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { x: 'x'.repeat(2 << 20) } });
  const { status, last } = await agent.send(large);
  const { code, data } = last.error;
  assert.deepEqual([status, code, data.error, data.details[0].code], [413, -32_600, 'too_large', 'body_bytes']);
  for (const bytes of ['{', '', '{"jsonrpc": "2.0"', '\u0000']) {
    const broken = await agent.send(bytes === '' ? null : bytes);
    assert.deepEqual([broken.status, broken.last.id, broken.last.error.code], [400, null, -32_700], bytes);
  }
  const deep = await agent.send(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  assert.deepEqual([deep.status, deep.last.jsonrpc], [400, '2.0']);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_methods' } };
  const batch = await agent.send(JSON.stringify([call, call]));
  assert.deepEqual([batch.status, batch.last.error.code], [400, -32_600]);
});

test('headers that contradict the body are refused', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'headers' });
  const agent = new McpAgent({ url: url(), token });
  const params = { name: 'list_methods', arguments: {} };
  for (const forged of [
    { 'mcp-name': 'rename_method' },
    { 'mcp-method': 'tools/list' },
    { 'mcp-protocol-version': '2025-11-25' },
  ]) {
    const { status, last } = await agent.request('tools/call', params, forged);
    assert.deepEqual([status, last.error.code], [400, -32_020], JSON.stringify(forged));
  }
  assert.equal((await agent.request('tools/call', params)).status, 200);
});

test('an unknown tool and an unknown method are errors of the protocol', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'unknown' });
  const agent = new McpAgent({ url: url(), token });
  const tool = await agent.request('tools/call', { name: 'no_such_tool', arguments: {} });
  assert.equal(tool.last.error.code, -32_602);
  const method = await agent.request('no/such');
  assert.deepEqual([method.status, method.last.error.code], [404, -32_601]);
});

test('the log has the tool and the client, in the earlier era from its session id', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'clients' });
  const lastRecord = () => api.log.findLast(({ route }) => route === '/mcp');
  await new McpAgent({ url: url(), token }).call('list_methods');
  assert.deepEqual([lastRecord()?.tool, lastRecord()?.client], ['list_methods', `${AGENT.name} ${AGENT.version}`]);

  const earlier = new McpAgent({ url: url(), token, era: '2025-11-25' });
  const clientInfo = { name: 'old \u202eclient\n', version: '0.9' };
  const begun = await earlier.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  assert.equal(begun.last.result.serverInfo.version, '5.2');
  const sessionId = begun.headers.get('mcp-session-id') ?? '';
  const resumed = new McpAgent({ url: url(), token, era: '2025-11-25', headers: { 'mcp-session-id': sessionId } });
  await resumed.call('list_methods');
  assert.equal(lastRecord()?.client, 'old  client 0.9');
  for (const foreign of ['x', 'client.', `client.${'A'.repeat(5_000)}`]) {
    const agent = new McpAgent({ url: url(), token, era: '2025-11-25', headers: { 'mcp-session-id': foreign } });
    await agent.done('list_methods');
    assert.equal(lastRecord()?.client, undefined, foreign);
  }
});

test('a gateway without a key for what users are asked says at its start what that loses', () => {
  const lines = api.log.filter(({ msg }) => String(msg).startsWith('MCP_STATE_KEY is not set: '));
  assert.equal(lines.length, 1);
});
