import { deepEqual, equal } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Bus } from '@methods/bus/connection';
import { registryChanged } from '@methods/bus/subjects';
import { silentLogger } from '@methods/logging/logger';
import { type RegistryChanged, RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import {
  newKey,
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.ts';

let nats: TestNats;
let registry: RunningRegistry;
let listener: Bus;
before(async () => {
  nats = await testNats();
  registry = await startRegistry({ natsUrl: nats.url });
  listener = new Bus({ url: nats.url, name: 'test', logger: silentLogger });
  listener.start();
  await new Promise<void>((resolve) => listener.onConnected(resolve));
});
after(async () => {
  await listener.stop();
  await registry.stop();
  await nats.stop();
});

/** The next change of an organization while `act` is repeated: the registry's own connection may still be coming. */
async function changeAfter(orgId: string, signal: AbortSignal, act: () => Promise<unknown>): Promise<RegistryChanged> {
  const decode = decoder(RegistryChangedSchema);
  let heard: RegistryChanged | undefined;
  const subscription = listener.subscribe(registryChanged(orgId), (messages) => {
    heard ??= decode(Buffer.from(messages[0]?.data ?? []));
  });
  try {
    while (heard === undefined) {
      signal.throwIfAborted();
      await act();
    }
    return heard;
  } finally {
    subscription.unsubscribe();
  }
}

describe('registry changes', { timeout: 20_000 }, () => {
  test('revoking a key names the key and its digest', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, authSha256 } = await newKey(client, orgId);
    const change = await changeAfter(orgId, signal, () => client.revokeServiceKey({ orgId, keyId }));
    const { kind, id } = change;
    deepEqual([change.orgId, kind, id], [orgId, 'key', keyId]);
    equal(change.authSha256, authSha256.toString('hex'));
  });

  test('publishing names the method, and by then the new version is what readers get', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { methodId, versionId } = await newMethod(client, orgId);
    const change = await changeAfter(orgId, signal, () => client.publishVersion({ orgId, methodId, versionId }));
    const { kind, id, authSha256 } = change;
    deepEqual([change.orgId, kind, id, authSha256], [orgId, 'method', methodId, '']);
    equal((await client.getVersion({ orgId, methodId, version: 'published' })).version?.versionId, versionId);
  });
});
