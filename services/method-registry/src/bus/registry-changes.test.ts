import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { Bus } from '@methods/bus/connection';
import { registryChanged } from '@methods/bus/subjects';
import { silentLogger } from '@methods/logging/logger';
import { type RegistryChanged, RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  asDoer,
  newKey,
  newMember,
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.fixture.ts';

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

/** Returns the next change of an organization while `act` is repeated, since the registry may not be connected yet. */
async function changeAfter(orgId: OrgId, signal: AbortSignal, act: () => Promise<unknown>): Promise<RegistryChanged> {
  const decode = decoder(RegistryChangedSchema);
  let heard: RegistryChanged | undefined;
  const subscription = listener.subscribe(registryChanged(orgId), (messages) => {
    const changes = messages.map(({ data }) => decode(Buffer.from(data)));
    // That of what the test began with may come late.
    heard ??= changes.find(({ kind }) => kind !== 'created');
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

describe('registry changes', { timeout: 300_000 }, () => {
  test('revoking a key names the key and its digest', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, authSha256 } = await newKey(client, orgId);
    const change = await changeAfter(orgId, signal, () => client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId }));
    const { kind, id } = change;
    deepEqual([change.orgId, kind, id], [orgId, 'key', keyId]);
    equal(change.authSha256, authSha256.toString('hex'));
  });

  test('a new key and a new method are named, so that pages show them', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const decode = decoder(RegistryChangedSchema);
    const heard: RegistryChanged[] = [];
    const subscription = listener.subscribe(registryChanged(orgId), (messages) => {
      heard.push(...messages.map(({ data }) => decode(Buffer.from(data))));
    });
    const made: string[] = [];
    while (new Set(heard.map(({ kind }) => kind)).size < 2) {
      signal.throwIfAborted();
      made.push((await newKey(client, orgId)).keyId, (await newMethod(client, orgId)).methodId);
    }
    subscription.unsubscribe();
    deepEqual(new Set(heard.map(({ kind }) => kind)), new Set(['key', 'created']));
    for (const { id } of heard) equal(made.includes(id), true, id);
  });

  test('publishing names the method, and readers get the new version by then', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { methodId, versionId } = await newMethod(client, orgId);
    const change = await changeAfter(orgId, signal, () =>
      client.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId }),
    );
    const { kind, id, authSha256 } = change;
    deepEqual([change.orgId, kind, id, authSha256], [orgId, 'method', methodId, '']);
    equal((await client.getVersion({ orgId, methodId, version: 'published' })).version?.versionId, versionId);
  });

  test('an offered method is named when it is offered, published, renamed and withdrawn', async ({ signal }) => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { methodId, versionId } = await newMethod(client, orgId);
    const about = { orgId, methodId, doer: TEST_DOER };
    let name = 0;
    const changes = decoder(RegistryChangedSchema);
    for (const act of [
      () => client.offerMethod({ ...about, offered: true }),
      () => client.publishVersion({ ...about, versionId }),
      () => client.updateMethod({ ...about, displayName: `Name ${++name}` }),
      () => client.offerMethod({ ...about, offered: false }),
    ]) {
      let isHeard = false;
      const subscription = listener.subscribe(registryChanged(orgId), (messages) => {
        const found = messages.map(({ data }) => changes(Buffer.from(data)));
        isHeard ||= found.some(({ kind, id }) => kind === 'offer' && id === methodId);
      });
      while (!isHeard) {
        signal.throwIfAborted();
        await act();
      }
      subscription.unsubscribe();
    }
  });

  test('ending a session names its user and its digest, and the session is unknown by then', async ({ signal }) => {
    const { accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId, userId } = ann;
    const sessionSha256 = randomBytes(32);
    await accounts.createSession({ orgId, userId, sessionSha256, doer: asDoer(ann) });
    const change = await changeAfter(orgId, signal, () => accounts.endSession({ sessionSha256, doer: asDoer(ann) }));
    const { kind, id, authSha256 } = change;
    deepEqual([kind, id, authSha256], ['session', userId, sessionSha256.toString('hex')]);
    equal(await accounts.resolveSession({ sessionSha256 }).catch(({ code }) => code), 'unauthorized');
  });

  test('another role by an admin names the member', async ({ signal }) => {
    const { accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const ben = await newMember(accounts, ann.externalOrgId);
    const given = await changeAfter(orgId, signal, () =>
      accounts.setMemberRole({ orgId, userId: ben.userId, role: 'viewer', doer: asDoer(ann) }),
    );
    deepEqual([given.kind, given.id, given.authSha256], ['member', ben.userId, '']);
  });

  test('another role by the issuer names the member', async ({ signal }) => {
    const { accounts } = registry;
    const ann = await newMember(accounts);
    let turn = 0;
    const claimed = await changeAfter(ann.orgId, signal, () =>
      accounts.ensureUser({ ...ann.claims, claimedRole: turn++ % 2 === 0 ? 'member' : 'admin' }),
    );
    deepEqual([claimed.kind, claimed.id], ['member', ann.userId]);
  });

  test('changed settings name the organization', async ({ signal }) => {
    const { accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const change = await changeAfter(orgId, signal, () =>
      accounts.changeSettings({ orgId, retentionDays: 9, doer: asDoer(ann) }),
    );
    deepEqual([change.orgId, change.kind, change.id], [orgId, 'settings', orgId]);
  });
});
