import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

const REQUIRED = {
  LISTEN: '127.0.0.1:0',
  METHOD_REGISTRY_URL: 'registry:7001',
  RUN_SCHEDULER_URLS: 'one:7002,two:7002,one:7002',
};

test('unset variables have their defaults', () => {
  assert.deepEqual(readConfig(REQUIRED), {
    listen: { host: '127.0.0.1', port: 0 },
    publicUrl: null,
    grpcPublicUrl: null,
    mcpUrl: null,
    mcpStateKey: null,
    issuer: null,
    methodRegistryAddress: 'registry:7001',
    runSchedulerAddresses: ['one:7002', 'two:7002'],
    notifierAddress: null,
    natsUrl: null,
    rateLimitPerKey: 200,
    rateLimitPerOrganization: 1_000,
    connectionsMax: 50_000,
    connectionsPerAddressMax: 6_000,
    packagesDir: null,
    dashboardDir: null,
    webhooks: { allowPrivate: false, ports: [] },
    logLevel: 'info',
    trustProxy: null,
  });
});

test('every variable is read', () => {
  const config = readConfig({
    ...REQUIRED,
    LISTEN: '[::1]:8080',
    RATE_LIMIT_PER_KEY: '0',
    CONNECTIONS_MAX: '90000',
    CONNECTIONS_PER_ADDRESS_MAX: '0',
    WEBHOOK_PORTS: '8443,9443',
    ALLOW_PRIVATE_WEBHOOKS: '1',
    NATS_URL: 'nats://nats:4222',
    TRUST_PROXY: '10.0.0.0/8',
  });
  assert.deepEqual(config.listen, { host: '::1', port: 8080 });
  assert.equal(config.rateLimitPerKey, 0);
  assert.deepEqual([config.connectionsMax, config.connectionsPerAddressMax], [90_000, 0]);
  assert.deepEqual(config.webhooks, { allowPrivate: true, ports: [8443, 9443] });
  assert.equal(config.natsUrl?.reveal(), 'nats://nats:4222');
  assert.equal(config.trustProxy, '10.0.0.0/8');
});

const PEOPLE = {
  ...REQUIRED,
  PUBLIC_URL: 'https://methods.example',
  OIDC_ISSUER: 'https://id.example/',
  OIDC_CLIENT_ID: 'web',
};

test('an issuer adds people, with names of claims and an audience of their own', () => {
  const { issuer } = readConfig(PEOPLE);
  assert.deepEqual(issuer, {
    url: 'https://id.example/',
    clientId: 'web',
    clientSecret: null,
    cliClientId: null,
    orgClaim: 'org_id',
    orgNameClaim: 'org_name',
    roleClaim: null,
    machineAudience: 'https://methods.example/api',
  });
  const named = readConfig({
    ...PEOPLE,
    OIDC_CLIENT_SECRET: 'canary',
    OIDC_ORG_CLAIM: 'https://example.com/org',
    OIDC_ROLE_CLAIM: 'role',
    OIDC_CLI_CLIENT_ID: 'cli',
    MACHINE_AUDIENCE: 'urn:methods',
  }).issuer;
  assert.deepEqual(
    [named?.orgClaim, named?.roleClaim, named?.cliClientId, named?.machineAudience],
    ['https://example.com/org', 'role', 'cli', 'urn:methods'],
  );
  assert.ok(!JSON.stringify(named).includes('canary'));
});

test('credentials are never sent unencrypted, and no audience is a client', () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ OIDC_CLIENT_ID: '' }, /OIDC_CLIENT_ID/],
    [{ PUBLIC_URL: '' }, /PUBLIC_URL/],
    [{ OIDC_ISSUER: 'http://id.example' }, /OIDC_ISSUER/],
    [{ PUBLIC_URL: 'http://methods.example' }, /PUBLIC_URL/],
    [{ OIDC_ISSUER: 'http://localhost.example' }, /OIDC_ISSUER/],
    [{ MACHINE_AUDIENCE: 'web' }, /MACHINE_AUDIENCE/],
    [{ MACHINE_AUDIENCE: 'cli', OIDC_CLI_CLIENT_ID: 'cli' }, /MACHINE_AUDIENCE/],
    [{ MACHINE_AUDIENCE: 'https://methods.example/mcp', MCP_URL: 'https://methods.example/mcp' }, /MACHINE_AUDIENCE/],
  ];
  for (const [change, name] of cases) {
    assert.throws(() => readConfig({ ...PEOPLE, ...change }), name, JSON.stringify(change));
  }
  for (const loopback of ['http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1', 'http://id.localhost']) {
    readConfig({ ...PEOPLE, OIDC_ISSUER: loopback, PUBLIC_URL: loopback });
  }
});

test('all faults are reported at once', () => {
  const read = () => readConfig({ LISTEN: 'nowhere', RUN_SCHEDULER_URLS: 'one', RATE_LIMIT_PER_KEY: 'many' });
  assert.throws(read, (error: Error) => {
    for (const name of ['LISTEN', 'METHOD_REGISTRY_URL', 'RUN_SCHEDULER_URLS', 'RATE_LIMIT_PER_KEY']) {
      assert.match(error.message, new RegExp(name));
    }
    return true;
  });
});
