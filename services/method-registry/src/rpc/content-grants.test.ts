import { deepEqual, equal, rejects } from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { KeyId } from '@methods/base/ids';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  asDoer,
  commonRegistry,
  newKey,
  newMember,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

describe('content grants', () => {
  const wrapped = (byte: number) => Buffer.alloc(125, byte);

  test('a key is resolved with the content parts that were granted to it, each as granted last', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const [from, revoked, to] = [
      await newKey(client, orgId),
      await newKey(client, orgId),
      await newKey(client, orgId),
    ] as const;
    const grant = (fromKeyId: KeyId, byte: number) =>
      client.grantContent({ doer: TEST_DOER, orgId, keyId: to.keyId, fromKeyId, wrapped: wrapped(byte) });
    const grants = async (authSha256: Uint8Array) => {
      const { contentGrants } = await client.resolveServiceKey({ authSha256 });
      return contentGrants.map(({ fromKeyId, wrapped: bytes }) => [fromKeyId, bytes[0], bytes.length]);
    };
    deepEqual(await grants(to.authSha256), []);
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId: revoked.keyId });
    await grant(from.keyId, 1);
    await grant(revoked.keyId, 2);
    await Promise.all([grant(from.keyId, 3), grant(from.keyId, 3)]);
    deepEqual(await grants(to.authSha256), [
      [from.keyId, 3, 125],
      [revoked.keyId, 2, 125],
    ]);
    deepEqual(await grants(from.authSha256), [], 'a grant has one direction');
  });

  test('each grant that changes something is in the audit log, without its bytes', async () => {
    const { client, accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const [{ keyId }, { keyId: fromKeyId }] = [await newKey(client, orgId), await newKey(client, orgId)];
    const grant = (byte: number) =>
      client.grantContent({ doer: asDoer(ann), orgId, keyId, fromKeyId, wrapped: wrapped(byte) });
    await grant(1);
    await grant(1);
    await grant(2);
    const { entries } = await accounts.listAudit({ orgId, action: 'key.grant_content' });
    deepEqual(
      entries.map((entry) => [entry.by?.id, entry.targetId, JSON.parse(entry.afterJson)]),
      Array.from({ length: 2 }, () => [ann.userId, keyId, { from_key_id: fromKeyId }]),
    );
  });

  test('a key holds 20 grants, even of 30 granted at once; its own content part and large ones are refused', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, authSha256 } = await newKey(client, orgId);
    const others = await Promise.all(Array.from({ length: 30 }, async () => (await newKey(client, orgId)).keyId));
    const grant = (fromKeyId: KeyId, bytes: Uint8Array = wrapped(1)) =>
      client.grantContent({ doer: TEST_DOER, orgId, keyId, fromKeyId, wrapped: bytes });
    const outcomes = await Promise.allSettled(others.map((other) => grant(other)));
    equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 20);
    const { contentGrants } = await client.resolveServiceKey({ authSha256 });
    equal(contentGrants.length, 20);
    await grant((contentGrants[0]?.fromKeyId ?? '') as KeyId, wrapped(2));
    for (const bytes of [new Uint8Array(), new Uint8Array(1_025)]) {
      await rejects(grant(others[0] ?? 'key_none', bytes), { code: 'invalid_request' });
    }
    await rejects(grant(keyId), { code: 'invalid_request' });
  });
});
