import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import {
  type KeyId,
  type MethodId,
  newId,
  newMethodId,
  type OrgId,
  type ProductionId,
  productionMethodId,
  type VersionId,
} from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  commonRegistry,
  methodSource,
  newKey,
  newMethod,
  newOrganization,
  type RegistryClient,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

interface Target {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly otherKeyId: KeyId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
}

/** Every RPC that acts in an organization on an existing object. */
const acts: Record<string, (client: RegistryClient, target: Target) => Promise<unknown>> = {
  revokeServiceKey: (client, target) => client.revokeServiceKey({ doer: TEST_DOER, ...target }),
  renewWebhookSecret: (client, target) => client.renewWebhookSecret({ doer: TEST_DOER, ...target }),
  getWebhookSecret: (client, target) => client.getWebhookSecret(target),
  grantContent: (client, { otherKeyId, ...target }) =>
    client.grantContent({ doer: TEST_DOER, ...target, fromKeyId: otherKeyId, wrapped: new Uint8Array(100) }),
  takeContent: (client, { keyId, otherKeyId, orgId }) =>
    client.grantContent({ doer: TEST_DOER, orgId, keyId: otherKeyId, fromKeyId: keyId, wrapped: new Uint8Array(100) }),
  saveVersion: (client, target) =>
    client.saveVersion({
      doer: TEST_DOER,
      ...target,
      baseVersion: target.versionId,
      source: methodSource('Taken over'),
    }),
  publishVersion: (client, target) => client.publishVersion({ doer: TEST_DOER, ...target }),
  getMethod: (client, target) => client.getMethod(target),
  offerMethod: (client, target) => client.offerMethod({ doer: TEST_DOER, ...target, offered: true }),
  withdrawMethod: (client, target) => client.offerMethod({ doer: TEST_DOER, ...target, offered: false }),
  getVersion: (client, target) => client.getVersion({ ...target, version: target.versionId }),
  getCurrentVersion: (client, target) => client.getVersion(target),
  getPublishedVersion: (client, target) => client.getVersion({ ...target, version: 'published' }),
  putLock: (client, target) => client.putLock({ ...target, lock: Buffer.from('lock') }),
};

async function refusal(act: Promise<unknown>) {
  try {
    await act;
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message, facts: error.facts };
    throw error;
  }
  return null;
}

async function owned(client: RegistryClient): Promise<Target> {
  const orgId = await newOrganization(client);
  const { keyId } = await newKey(client, orgId);
  const { keyId: otherKeyId } = await newKey(client, orgId);
  return { orgId, keyId, otherKeyId, ...(await newMethod(client, orgId)) };
}

describe("another organization's rows", () => {
  for (const [name, act] of Object.entries(acts)) {
    test(`${name} refuses them like missing or malformed ones`, async () => {
      const { client } = registry;
      const theirs = await owned(client);
      const orgId = await newOrganization(client);
      const foreign = await refusal(act(client, { ...theirs, orgId }));
      equal(foreign?.code, 'not_found');
      const missing = {
        orgId,
        keyId: newId('key'),
        otherKeyId: newId('key'),
        methodId: newMethodId(),
        versionId: newId('ver'),
      };
      deepEqual(await refusal(act(client, missing)), foreign);
      const malformed = {
        orgId,
        keyId: 'key_a\0' as const,
        otherKeyId: 'key_' as const,
        methodId: "wf_' or 1=1" as MethodId,
        versionId: 'ver_' as const,
      };
      deepEqual((await refusal(act(client, malformed)))?.code, 'not_found');
      // Acts that the target's own organization may do are refused in one that does not exist, in any spelling.
      for (const nowhere of [newId('org'), '', 'a\0b', 'ORG_']) {
        equal((await refusal(act(client, { ...theirs, orgId: nowhere as OrgId })))?.code, 'not_found');
      }
      await client.publishVersion({ doer: TEST_DOER, ...theirs });
      equal(await refusal(act(client, theirs)), null);
    });
  }

  test('nothing of theirs changed or is listed', async () => {
    const { client } = registry;
    const theirs = await owned(client);
    const before = await client.getVersion(theirs);
    const orgId = await newOrganization(client);
    for (const act of Object.values(acts)) await refusal(act(client, { ...theirs, orgId }));
    deepEqual(await client.getVersion(theirs), before);
    deepEqual((await client.listServiceKeys({ orgId })).keys, []);
    equal((await client.listServiceKeys(theirs)).keys[0]?.revokedAtMs, 0);
  });

  test("only the organization's methods are found among those requested, published or not", async () => {
    const { client } = registry;
    const [mine, theirs] = [await owned(client), await owned(client)];
    const { methodId: published } = await newMethod(client, mine.orgId);
    const ask = (orgId: OrgId, methodIds: (MethodId | ProductionId)[]) => client.findMethods({ orgId, methodIds });
    const asked = [
      productionMethodId(mine.methodId),
      published,
      theirs.methodId,
      newMethodId(),
      "wf_' or 1=1" as const,
      '' as MethodId,
    ];
    deepEqual((await ask(mine.orgId, asked)).methodIds, [`wf_${mine.methodId}`, published]);
    deepEqual((await ask(theirs.orgId, asked)).methodIds, [theirs.methodId]);
    deepEqual((await ask(newId('org'), asked)).methodIds, []);
    equal(
      (
        await refusal(
          ask(
            mine.orgId,
            Array.from({ length: 1_001 }, () => published),
          ),
        )
      )?.code,
      'invalid_request',
    );
  });

  test('nothing is created in an organization that does not exist', async () => {
    const { client } = registry;
    for (const orgId of [newId('org'), 'a\0b']) {
      const create = client.createMethod({
        doer: TEST_DOER,
        orgId: orgId as OrgId,
        idempotencyHash: randomBytes(32),
        source: methodSource('New'),
      });
      equal((await refusal(create))?.code, 'not_found');
      equal((await refusal(newKey(client, orgId as OrgId)))?.code, 'not_found');
    }
  });

  test('a foreign key of the database cannot cross organizations', async () => {
    const { client, sql } = registry;
    const [mine, theirs] = [await owned(client), await owned(client)];
    const crossed = sql`
      update registry.methods set published_version = ${theirs.versionId}
      where org_id = ${mine.orgId} and method_id = ${mine.methodId}`;
    equal(
      await crossed.then(
        () => null,
        (error) => error.constraint_name,
      ),
      'methods_published_fkey',
    );
  });
});
