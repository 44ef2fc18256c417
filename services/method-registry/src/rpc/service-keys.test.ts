import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { newKey, newOrganization, type RunningRegistry, startRegistry } from '../../test/running-registry.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

describe('organizations', () => {
  test('one (issuer, external id) is one organization, also for 50 first sights at once', async () => {
    const { client } = registry;
    const sights = Array.from({ length: 50 }, () =>
      client.ensureOrganization({ issuer: 'https://id.example', externalId: 'acme', name: 'Acme' }),
    );
    const replies = await Promise.all(sights);
    equal(new Set(replies.map(({ orgId }) => orgId)).size, 1);
    equal(replies.filter(({ created }) => created).length, 1);
    const other = await client.ensureOrganization({ issuer: 'https://other.example', externalId: 'acme', name: '' });
    equal(other.created, true);
    notEqual(other.orgId, replies[0]?.orgId);
  });

  test('an issuer that is empty or holds NUL is refused', async () => {
    const { client } = registry;
    for (const issuer of ['', 'a\0b', 'x'.repeat(513)]) {
      await rejects(client.ensureOrganization({ issuer, externalId: 'a' }), { code: 'invalid_request' });
    }
  });
});

describe('service keys', () => {
  test('a key is resolved by its digest alone until it is revoked', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { authSha256, keyId } = await newKey(client, orgId);
    const { key } = await client.resolveServiceKey({ authSha256 });
    equal(key?.orgId, orgId);
    equal(key?.keyId, keyId);
    equal(key?.revokedAtMs, 0);

    const first = await client.revokeServiceKey({ orgId, keyId });
    ok((first.key?.revokedAtMs ?? 0) > 0);
    await rejects(client.resolveServiceKey({ authSha256 }), { code: 'unauthorized' });
    const second = await client.revokeServiceKey({ orgId, keyId });
    equal(second.key?.revokedAtMs, first.key?.revokedAtMs);
  });

  test('an unknown and a malformed digest are refused as a revoked one is', async () => {
    const { client } = registry;
    const { authSha256, keyId } = await newKey(client, await newOrganization(client));
    const { key } = await client.resolveServiceKey({ authSha256 });
    await client.revokeServiceKey({ orgId: key?.orgId ?? '', keyId });
    const digests = [authSha256, randomBytes(32), randomBytes(31), new Uint8Array()];
    const refusals = await Promise.all(
      digests.map((digest) =>
        client.resolveServiceKey({ authSha256: digest }).catch(({ code, message }) => ({ code, message })),
      ),
    );
    equal(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size, 1);
  });

  test('a webhook secret is told once and stays readable for signing after the key is revoked', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, webhookSecret } = await newKey(client, orgId);
    match(webhookSecret, /^whsec_[0-9A-Za-z]{43}$/);
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, webhookSecret);
    await client.revokeServiceKey({ orgId, keyId });
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, webhookSecret);
  });

  test('the same digest makes no second key, in no organization', async () => {
    const { client } = registry;
    const { authSha256 } = await newKey(client, await newOrganization(client));
    const orgId = await newOrganization(client);
    await rejects(client.createServiceKey({ orgId, name: 'again', authSha256 }), { code: 'idempotency_conflict' });
  });

  test('live keys are listed first, newest first', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const keyIds: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { key } = await client.createServiceKey({ orgId, name, authSha256: createServiceKey().authSha256 });
      keyIds.push(key?.keyId ?? '');
    }
    await client.revokeServiceKey({ orgId, keyId: keyIds[1] ?? '' });
    const { keys } = await client.listServiceKeys({ orgId });
    deepEqual(
      keys.map(({ name }) => name),
      ['c', 'a', 'b'],
    );
  });

  test('an organization holds 500 live keys; revoking one makes room', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const { keyId } = await newKey(client, orgId);
    await sql`
      insert into registry.service_keys (org_id, key_id, name, auth_sha256, sealed_webhook_secret)
      select org_id, 'key_' || lpad(n::text, 26, '0'), name, sha256(n::text::bytea), sealed_webhook_secret
      from registry.service_keys, generate_series(1, 499) n where org_id = ${orgId} and key_id = ${keyId}`;
    const full = { code: 'invalid_request', message: 'An organization holds at most 500 live service keys.' };
    await rejects(newKey(client, orgId), full);
    await client.revokeServiceKey({ orgId, keyId });
    await newKey(client, orgId);
    await rejects(newKey(client, orgId), full);
  });

  test('a name has 1 to 200 code points', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const create = (name: string) =>
      client.createServiceKey({ orgId, name, authSha256: createServiceKey().authSha256 });
    await rejects(create(''), { code: 'invalid_request' });
    await rejects(create('x'.repeat(201)), { code: 'invalid_request' });
    equal((await create('😀'.repeat(200))).key?.name, '😀'.repeat(200));
  });
});
