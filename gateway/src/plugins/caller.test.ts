import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { newRunId } from '@methods/base/ids';
import { gatewayFixture } from '../testing/gateway.fixture.ts';
import { stoppedClock } from '../testing/stopped-clock.fixture.ts';

test('without a good key every route answers with the same 401', async () => {
  await using gateway = await gatewayFixture();
  const { key, authPart } = gateway.apiKey;
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  const bad = ['', 'Bearer', 'Bearer ', `Basic ${key}`, `Bearer ${mistyped}`, `Bearer ${createServiceKey().key}`];
  bad.push(`Bearer ${authPart.slice(0, -1)}`, `Bearer ${key} ${key}`, `Bearer ${'x'.repeat(5_000)}`, key);
  const routes = [
    ['POST', '/v1/runs'],
    ['GET', `/v1/runs/${newRunId(1)}`],
    ['GET', '/v1/runs/malformed'],
    ['POST', `/v1/runs/${newRunId(1)}/answer`],
    ['POST', `/v1/runs/${newRunId(1)}/cancel`],
  ] as const;
  for (const authorization of bad) {
    for (const [method, path] of routes) {
      const { status, body, headers } = await gateway.ask(method, path, undefined, { authorization });
      assert.deepEqual([status, body], [401, { error: 'unauthorized' }]);
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer/);
      assert.ok(headers.get('x-request-id'));
    }
  }
});

test('the whole key and only its auth part are the same caller, looked up once', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${newRunId(1)}`;
  for (const key of [gateway.apiKey.key, gateway.apiKey.authPart, gateway.apiKey.key]) {
    const { status } = await gateway.ask('GET', path, undefined, { authorization: `bearer ${key}` });
    assert.equal(status, 404);
  }
  assert.equal(gateway.registry.count('resolveServiceKey'), 1);
});

test('a revoked key is refused as soon as its event arrives, an unknown one is not looked up again at once', async () => {
  await using gateway = await gatewayFixture({ registryClock: stoppedClock });
  const path = `/v1/runs/${newRunId(1)}`;
  assert.equal((await gateway.ask('GET', path)).status, 404);
  gateway.registry.revoke(gateway.apiKey.sha256);
  gateway.registryClient.onChanged({
    $typeName: 'methods.event.v1.RegistryChanged',
    orgId: gateway.orgId,
    kind: 'key',
    id: '',
    authSha256: gateway.apiKey.sha256,
  });
  assert.equal((await gateway.ask('GET', path)).status, 401);
  const asked = gateway.registry.count('resolveServiceKey');
  assert.equal((await gateway.ask('GET', path)).status, 401);
  assert.equal(gateway.registry.count('resolveServiceKey'), asked);
});

test('while the registry is unavailable a known key keeps working and an unknown one gets 503', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${newRunId(1)}`;
  assert.equal((await gateway.ask('GET', path)).status, 404);
  gateway.registry.away = true;
  gateway.registryClient.onEventsMissed();
  assert.equal((await gateway.ask('GET', path)).status, 404);
  const stranger = `Bearer ${createServiceKey().key}`;
  const { status, body } = await gateway.ask('GET', path, undefined, { authorization: stranger });
  assert.deepEqual([status, body.error], [503, 'unavailable']);
});

test('a wrong key is looked up once a second for any number of requests, and works soon after it was created', async () => {
  let nowMs = stoppedClock.monotonicMs();
  await using gateway = await gatewayFixture({ registryClock: { ...stoppedClock, monotonicMs: () => nowMs } });
  const path = `/v1/runs/${newRunId(1)}`;
  const { key, sha256 } = gateway.registry.key(gateway.orgId);
  gateway.registry.revoke(sha256);
  const authorization = `Bearer ${key}`;
  const show = async () => (await gateway.ask('GET', path, undefined, { authorization })).status;
  const shown = await Promise.all(Array.from({ length: 40 }, show));
  assert.deepEqual([new Set(shown), gateway.registry.count('resolveServiceKey')], [new Set([401]), 1]);
  gateway.registry.restore(sha256);
  assert.equal(await show(), 401);
  nowMs += 1_001;
  assert.equal(await show(), 404);
});

test('an address that sends many keys at a time waits, and a known key does not', async () => {
  await using gateway = await gatewayFixture();
  const path = `/v1/runs/${newRunId(1)}`;
  assert.equal((await gateway.ask('GET', path)).status, 404);
  const { registryClient: client } = gateway;
  const lookups = Array.from({ length: 300 }, async (_, n) => client.callerOf(`sk_${n}`, '192.0.2.1'));
  const settled = Promise.allSettled(lookups);
  assert.equal((await gateway.ask('GET', path)).status, 404);
  const codes = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : null));
  // On a slow machine a waiting look-up may also run out of time.
  assert.equal(codes.filter((code) => code === 'rate_limited').length, 300 - 256);
  assert.ok(gateway.registry.count('resolveServiceKey') <= 1 + 256);
});
