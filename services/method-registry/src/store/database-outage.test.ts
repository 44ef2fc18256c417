import { equal, rejects } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  methodSource,
  newKey,
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

test('without Postgres every call is unavailable; when it is back, acknowledged changes are there', {
  timeout: 300_000,
}, async ({ signal }) => {
  const { client, door } = registry;
  const orgId = await newOrganization(client);
  const { authSha256, keyId } = await newKey(client, orgId);
  const { methodId, versionId } = await newMethod(client, orgId);
  const save = () =>
    client.saveVersion({
      doer: TEST_DOER,
      orgId,
      methodId,
      baseVersion: versionId,
      source: methodSource('After the outage'),
    });

  await door.shut();
  // Unknown does not mean unauthorized: a key must not be refused because a database is unavailable.
  await rejects(client.resolveServiceKey({ authSha256 }), { code: 'unavailable' });
  await rejects(client.getVersion({ orgId, methodId }), { code: 'unavailable' });
  await rejects(save(), { code: 'unavailable' });
  await door.open();

  for (;;) {
    signal.throwIfAborted();
    try {
      await client.getMethod({ orgId, methodId });
      break;
    } catch (error) {
      equal((error as { code?: string }).code, 'unavailable');
    }
  }
  equal((await client.resolveServiceKey({ authSha256 })).key?.keyId, keyId);
  equal((await save()).created, true);
});
