import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayFixture } from '../testing/gateway.fixture.ts';

const PUBLIC_URL = 'http://127.0.0.1:8080';
const ISSUER = {
  url: 'http://127.0.0.1:1/',
  clientId: 'web',
  clientSecret: null,
  cliClientId: 'cli',
  orgClaim: 'org_id',
  orgNameClaim: 'org_name',
  roleClaim: null,
  machineAudience: `${PUBLIC_URL}/api`,
};
const NOBODY = { authorization: '' };

test('one public address has everything that programs need to know', async () => {
  const addresses = { publicUrl: PUBLIC_URL, grpcPublicUrl: '127.0.0.1:9', mcpUrl: `${PUBLIC_URL}/mcp` };
  await using gateway = await gatewayFixture({ ...addresses, issuer: ISSUER });
  const { status, body } = await gateway.ask('GET', '/.well-known/methods', undefined, NOBODY);
  assert.deepEqual(
    [status, body],
    [
      200,
      {
        base_url: PUBLIC_URL,
        mcp_url: `${PUBLIC_URL}/mcp`,
        grpc_url: '127.0.0.1:9',
        issuer: 'http://127.0.0.1:1/',
        cli_client_id: 'cli',
        machine_audience: `${PUBLIC_URL}/api`,
        sends_mail: null,
      },
    ],
  );
});

test('an MCP client finds the issuer from a refusal', async () => {
  await using gateway = await gatewayFixture({ publicUrl: PUBLIC_URL, mcpUrl: `${PUBLIC_URL}/mcp`, issuer: ISSUER });
  const refused = await gateway.ask('GET', '/api/whoami', undefined, NOBODY);
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  assert.equal(new URL(address).origin, PUBLIC_URL);
  for (const path of [new URL(address).pathname, '/.well-known/oauth-protected-resource']) {
    const { status, body } = await gateway.ask('GET', path, undefined, NOBODY);
    assert.deepEqual([status, body.resource, body.authorization_servers], [200, `${PUBLIC_URL}/mcp`, [ISSUER.url]]);
    assert.deepEqual(body.scopes_supported, ['openid', 'profile', 'email']);
  }
});

test('without an issuer there are service keys and no people, and sign-in gives the reason', async () => {
  await using gateway = await gatewayFixture();
  const { body } = await gateway.ask('GET', '/.well-known/methods', undefined, NOBODY);
  assert.deepEqual([body.issuer, body.machine_audience], [null, null]);
  for (const [method, path] of [
    ['GET', '/auth/login'],
    ['GET', '/auth/callback'],
    ['POST', '/auth/logout'],
  ] as const) {
    const reply = await gateway.ask(method, path, undefined, NOBODY);
    assert.deepEqual([reply.status, reply.body.error], [404, 'not_found']);
    assert.match(reply.body.message, /OIDC_ISSUER/);
  }
  const token = { authorization: `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.` };
  assert.equal((await gateway.ask('GET', '/v1/runs/run_x', undefined, token)).status, 401);
});

test('sign-ins of one address are limited; other addresses, other routes and signing out are not', async () => {
  const parts = { publicUrl: PUBLIC_URL, issuer: ISSUER, rateLimitPerKey: 1_000, trustProxy: '127.0.0.1' };
  await using gateway = await gatewayFixture(parts);
  const login = async (ip: string) =>
    (await gateway.ask('GET', '/auth/login?return_to=elsewhere', undefined, { 'x-forwarded-for': ip })).status;
  const statuses: number[] = [];
  for (let n = 0; n < 40; n++) statuses.push(await login('192.0.2.1'));
  assert.equal(statuses[0], 400);
  assert.equal(statuses.at(-1), 429);
  assert.equal(await login('192.0.2.2'), 400);
  const there = { 'x-forwarded-for': '192.0.2.1', origin: PUBLIC_URL };
  for (let n = 0; n < 40; n++) assert.equal((await gateway.ask('POST', '/auth/logout', undefined, there)).status, 204);
});

test('the uses of a key are reported to the registry, without refused ones', async () => {
  await using gateway = await gatewayFixture();
  const noted: unknown[] = [];
  gateway.registry.methodService.answer({
    noteKeyUse: ({ uses }) => {
      noted.push(...uses.map(({ keyId, orgId }) => ({ keyId, orgId })));
      return {};
    },
  });
  for (let n = 0; n < 3; n++) await gateway.ask('GET', '/v1/runs/run_x');
  await gateway.ask('GET', '/v1/runs/run_x', undefined, { authorization: 'Bearer sk_x' });
  await gateway.keyUses.tell();
  assert.deepEqual(noted, [{ keyId: gateway.apiKey.keyId, orgId: gateway.orgId }]);
});
