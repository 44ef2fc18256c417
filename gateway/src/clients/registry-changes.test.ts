import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newRunId } from '@methods/base/ids';
import { Bus } from '@methods/bus/connection';
import { registryChanged } from '@methods/bus/subjects';
import { silentLogger } from '@methods/logging/logger';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import { testNats } from '@methods/test/harness/nats';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';
import { followRegistryChanges } from './registry-changes.ts';

const encode = encoder(RegistryChangedSchema);

test('a revoked key and a new publish reach the gateway over the bus, even after the bus was unavailable', async (t) => {
  const nats = await testNats();
  t.after(() => nats.stop());
  await using gateway = await gatewayFixture();
  const buses = ['gateway', 'registry'].map((name) => new Bus({ url: nats.url, name, logger: silentLogger }));
  t.after(() => Promise.all(buses.map((bus) => bus.stop())));
  const [own, registry] = buses;
  assert.ok(own && registry);
  let connects = 0;
  followRegistryChanges(own, gateway.registryClient, { onChanged: () => {}, onEventsMissed: () => connects++ });
  for (const bus of buses) bus.start();
  // The caches are emptied a moment after the bus reports its connection.
  await until(() => connects === 1 && registry.connected);
  const emit = (kind: string, id: string, authSha256 = '') =>
    registry.publish(registryChanged(gateway.orgId), encode({ orgId: gateway.orgId, kind, id, authSha256 }));
  const start = async () =>
    (await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } })).body.version_id;

  assert.equal(await start(), gateway.versionId);
  const next = gateway.registry.publish(gateway.methodId, gateway.source);
  assert.equal(await start(), gateway.versionId, 'no event has come yet');
  await until(async () => {
    emit('method', gateway.methodId);
    return (await start()) === next;
  });

  await nats.kill();
  await until(() => !own.connected);
  const unheard = gateway.registry.publish(gateway.methodId, gateway.source);
  await nats.restart();
  // Without a bus, entries expire soon: a start by itself does not show that the caches have been emptied.
  await until(() => connects === 2);
  await until(async () => (await start()) === unheard);

  await start(); // the key is known again, whichever of the two was asked for first after the reconnect
  gateway.registry.revoke(gateway.apiKey.sha256);
  const path = `/v1/runs/${newRunId(1)}`;
  assert.equal((await gateway.ask('GET', path)).status, 404);
  await until(async () => {
    emit('key', '', gateway.apiKey.sha256);
    return (await gateway.ask('GET', path)).status === 401;
  });
});

test('a version that was published here is started, even if the registry is unavailable right after its reply', async () => {
  await using gateway = await gatewayFixture();
  const { registry, registryClient, orgId, methodId } = gateway;
  const start = async () => (await registryClient.versionToStart(orgId, methodId, 'published')).versionId;
  assert.equal(await start(), gateway.versionId);
  const next = registry.publish(methodId, gateway.source);
  await registryClient.version(orgId, methodId, next);
  registry.away = true;
  registryClient.onPublished(orgId, methodId, next);
  assert.equal(await start(), next);
  registry.away = false;
  const elsewhere = registry.publish(methodId, gateway.source);
  registryClient.onPublished(orgId, methodId, next);
  assert.equal(await start(), elsewhere, 'another gateway has published since');
});

test('settings changed here do not hide a later change by another gateway, whose event came before the reply', async () => {
  await using gateway = await gatewayFixture();
  const { registry, settings, orgId } = gateway;
  const before = await settings.of(orgId);
  registry.accounts.settings.contentOnDevices = true;
  settings.onChanged(create(RegistryChangedSchema, { kind: 'settings', orgId }));
  settings.changed(orgId, { ...before, retentionDays: 7 });
  assert.equal((await settings.of(orgId)).contentOnDevices, true);
  settings.changed(orgId, { ...before, retentionDays: 7 });
  registry.away = true;
  assert.equal((await settings.of(orgId)).retentionDays, 7);
});
