import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { type KeyId, newId, type OrgId } from '@methods/base/ids';
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

describe('organizations', () => {
  test('an issuer and external id are one organization, even for 50 simultaneous first requests', async () => {
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
  test('a key is resolved only by its digest until it is revoked', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { authSha256, keyId } = await newKey(client, orgId);
    const { key } = await client.resolveServiceKey({ authSha256 });
    equal(key?.orgId, orgId);
    equal(key?.keyId, keyId);
    equal(key?.revokedAtMs, 0);

    const first = await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId });
    ok((first.key?.revokedAtMs ?? 0) > 0);
    await rejects(client.resolveServiceKey({ authSha256 }), { code: 'unauthorized' });
    const second = await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId });
    equal(second.key?.revokedAtMs, first.key?.revokedAtMs);
  });

  test('an unknown and a malformed digest get the same refusal as a revoked one', async () => {
    const { client } = registry;
    const { authSha256, keyId } = await newKey(client, await newOrganization(client));
    const { key } = await client.resolveServiceKey({ authSha256 });
    await client.revokeServiceKey({ doer: TEST_DOER, orgId: key?.orgId ?? 'org_none', keyId });
    const digests = [authSha256, randomBytes(32), randomBytes(31), new Uint8Array()];
    const refusals = await Promise.all(
      digests.map((digest) =>
        client.resolveServiceKey({ authSha256: digest }).catch(({ code, message }) => ({ code, message })),
      ),
    );
    equal(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size, 1);
  });

  test('a webhook secret is shown once and stays readable for signing after the key is revoked', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, webhookSecret } = await newKey(client, orgId);
    match(webhookSecret, /^whsec_[0-9A-Za-z]{43}$/);
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, webhookSecret);
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId });
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, webhookSecret);
  });

  test('the same digest creates no second key, in any organization', async () => {
    const { client } = registry;
    const { authSha256 } = await newKey(client, await newOrganization(client));
    const orgId = await newOrganization(client);
    await rejects(client.createServiceKey({ doer: TEST_DOER, orgId, name: 'again', authSha256 }), {
      code: 'idempotency_conflict',
    });
  });

  test('a repeat after a lost reply gets the first key and its secret, even 20 at once, and one audit line records it', async () => {
    const { client, accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const { authSha256 } = createServiceKey();
    const create = () => client.createServiceKey({ doer: asDoer(ann), orgId, name: 'app', authSha256 });
    const replies = await Promise.all(Array.from({ length: 20 }, create));
    equal(replies.filter(({ created }) => created).length, 1);
    const [first] = replies;
    for (const { key, webhookSecret } of replies) {
      deepEqual([key?.keyId, key?.name, webhookSecret], [first?.key?.keyId, 'app', first?.webhookSecret]);
    }
    match(first?.webhookSecret ?? '', /^whsec_/);
    equal((await client.listServiceKeys({ orgId })).keys.length, 1);
    const { entries } = await accounts.listAudit({ orgId });
    equal(entries.filter(({ action }) => action === 'key.create').length, 1);
  });

  test('the same digest with another name, by another person or after the key was revoked is not a repeat', async () => {
    const { client, accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const { authSha256 } = createServiceKey();
    const first = { doer: asDoer(ann), orgId, name: 'app', authSha256 };
    const { key } = await client.createServiceKey(first);
    await rejects(client.createServiceKey({ ...first, name: 'other' }), { code: 'idempotency_conflict' });
    await rejects(client.createServiceKey({ ...first, doer: TEST_DOER }), { code: 'idempotency_conflict' });
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId: key?.keyId ?? 'key_none' });
    await rejects(client.createServiceKey(first), { code: 'idempotency_conflict' });
  });

  test('live keys are listed first, newest first', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const keyIds: KeyId[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { key } = await client.createServiceKey({
        doer: TEST_DOER,
        orgId,
        name,
        authSha256: createServiceKey().authSha256,
      });
      keyIds.push(key?.keyId ?? 'key_none');
    }
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId: keyIds[1] ?? 'key_none' });
    const { keys } = await client.listServiceKeys({ orgId });
    deepEqual(
      keys.map(({ name }) => name),
      ['c', 'a', 'b'],
    );
    const first = await client.listServiceKeys({ orgId, limit: 2 });
    const second = await client.listServiceKeys({ orgId, limit: 2, cursor: first.nextCursor });
    deepEqual(
      [first, second].map((page) => page.keys.map(({ name }) => name)),
      [['c', 'a'], ['b']],
    );
    equal(second.nextCursor, '');
    await rejects(client.listServiceKeys({ orgId, limit: 201 }), { code: 'invalid_request' });
    await rejects(client.listServiceKeys({ orgId, cursor: 'x' }), { code: 'invalid_request' });
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
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId });
    const last = { doer: TEST_DOER, orgId, name: 'last', authSha256: createServiceKey().authSha256 };
    const made = await client.createServiceKey(last);
    equal((await client.createServiceKey(last)).webhookSecret, made.webhookSecret, 'a repeat needs no room');
    await rejects(newKey(client, orgId), full);
  });

  test('a name has 1 to 200 code points', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const create = (name: string) =>
      client.createServiceKey({ doer: TEST_DOER, orgId, name, authSha256: createServiceKey().authSha256 });
    await rejects(create(''), { code: 'invalid_request' });
    await rejects(create('x'.repeat(201)), { code: 'invalid_request' });
    equal((await create('😀'.repeat(200))).key?.name, '😀'.repeat(200));
  });

  test('the creator and the revoker of a key are recorded, each once, and without its digest', async () => {
    const { client, accounts } = registry;
    const ann = await newMember(accounts, undefined, { name: 'Ann' });
    const { orgId } = ann;
    const { authSha256 } = createServiceKey();
    const { key } = await client.createServiceKey({ orgId, name: 'app', authSha256, doer: asDoer(ann) });
    const keyId = key?.keyId ?? 'key_none';
    deepEqual([key?.createdBy?.kind, key?.createdBy?.id, key?.createdBy?.name], ['user', ann.userId, 'Ann']);
    await Promise.all(Array.from({ length: 5 }, () => client.revokeServiceKey({ orgId, keyId, doer: asDoer(ann) })));
    const [listed] = (await client.listServiceKeys({ orgId })).keys;
    equal(listed?.createdBy?.name, 'Ann');
    const { entries } = await accounts.listAudit({ orgId, targetId: keyId });
    deepEqual(
      entries.map(({ action, by, beforeJson, afterJson }) => [action, by?.name, beforeJson, afterJson]),
      [
        ['key.revoke', 'Ann', '', ''],
        ['key.create', 'Ann', '', '{"name": "app"}'],
      ],
    );
  });

  test('a key is not created, revoked or given another secret without an actor', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId, authSha256, webhookSecret } = await newKey(client, orgId);
    const another = createServiceKey().authSha256;
    await rejects(client.createServiceKey({ orgId, name: 'x', authSha256: another }), { code: 'invalid_request' });
    await rejects(client.revokeServiceKey({ orgId, keyId }), { code: 'invalid_request' });
    await rejects(client.renewWebhookSecret({ orgId, keyId }), { code: 'invalid_request' });
    equal((await client.resolveServiceKey({ authSha256 })).key?.keyId, keyId);
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, webhookSecret);
  });

  test('a new webhook secret replaces the earlier one, even of a revoked key, and is logged', async () => {
    const { client, accounts } = registry;
    const ann = await newMember(accounts);
    const { orgId } = ann;
    const { keyId, webhookSecret: first } = await newKey(client, orgId);
    const renew = async () => (await client.renewWebhookSecret({ orgId, keyId, doer: asDoer(ann) })).webhookSecret;
    const second = await renew();
    match(second, /^whsec_[0-9A-Za-z]{43}$/);
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, second);
    await client.revokeServiceKey({ orgId, keyId, doer: asDoer(ann) });
    const third = await renew();
    equal((await client.getWebhookSecret({ orgId, keyId })).webhookSecret, third);
    equal(new Set([first, second, third]).size, 3);
    const { entries } = await accounts.listAudit({ orgId, action: 'key.renew_webhook_secret' });
    deepEqual(
      entries.map(({ by, targetId, beforeJson, afterJson }) => [by?.id, targetId, beforeJson, afterJson]),
      Array.from({ length: 2 }, () => [ann.userId, keyId, '', '']),
    );
  });
});

describe('the last use of a key', () => {
  const MINUTE_MS = 60_000;

  async function lastUses(orgId: OrgId) {
    const { keys } = await registry.client.listServiceKeys({ orgId });
    return Object.fromEntries(keys.map(({ keyId, lastUsedAtMs }) => [keyId, lastUsedAtMs]));
  }

  test('is accurate to the minute, never goes back, and is never in the future', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { keyId } = await newKey(client, orgId);
    const note = (...times: number[]) =>
      client.noteKeyUse({ uses: times.map((usedAtMs) => ({ orgId, keyId, usedAtMs })) });
    equal((await lastUses(orgId))[keyId], 0);
    const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS;
    await note(minute + 1_234, minute - MINUTE_MS);
    equal((await lastUses(orgId))[keyId], minute);
    await note(minute - 5 * MINUTE_MS);
    equal((await lastUses(orgId))[keyId], minute);
    await note(minute + 3 * MINUTE_MS + 59_999);
    equal((await lastUses(orgId))[keyId], minute + 3 * MINUTE_MS);
    await note(Date.now() + 365 * 86_400_000);
    ok(((await lastUses(orgId))[keyId] ?? Infinity) <= Date.now());
  });

  test('a use within the same minute writes nothing', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const { keyId } = await newKey(client, orgId);
    const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
    const written = async () =>
      (await sql`select xmin::text from registry.service_keys where key_id = ${keyId}`)[0]?.xmin;
    await client.noteKeyUse({ uses: [{ orgId, keyId, usedAtMs: minute }] });
    const first = await written();
    await client.noteKeyUse({ uses: [{ orgId, keyId, usedAtMs: minute + 30_000 }] });
    equal(await written(), first);
  });

  test('batches of many gateways over the same keys, in any order, all succeed', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const keyIds = await Promise.all(Array.from({ length: 20 }, async () => (await newKey(client, orgId)).keyId));
    const minute = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 60 * MINUTE_MS;
    await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const uses = keyIds.map((keyId) => ({ orgId, keyId, usedAtMs: minute + i * MINUTE_MS }));
        return client.noteKeyUse({ uses: i % 2 === 0 ? uses : uses.reverse() });
      }),
    );
    deepEqual(await lastUses(orgId), Object.fromEntries(keyIds.map((keyId) => [keyId, minute + 29 * MINUTE_MS])));
  });

  test("another organization's and missing keys are skipped; a malformed use refuses its batch", async () => {
    const { client } = registry;
    const [orgId, other] = [await newOrganization(client), await newOrganization(client)];
    const { keyId } = await newKey(client, orgId);
    const usedAtMs = Date.now();
    await client.noteKeyUse({
      uses: [
        { orgId: other, keyId, usedAtMs },
        { orgId, keyId: newId('key'), usedAtMs },
      ],
    });
    equal((await lastUses(orgId))[keyId], 0);
    const good = { orgId, keyId, usedAtMs };
    for (const fault of [
      { usedAtMs: Number.NaN },
      { usedAtMs: -1 },
      { keyId: 'key_' as const },
      { orgId: 'a\0b' as OrgId },
    ]) {
      const refused = await client.noteKeyUse({ uses: [good, { ...good, ...fault }] }).catch(({ code }) => code);
      ok(['invalid_request', 'not_found'].includes(refused));
    }
    await rejects(client.noteKeyUse({ uses: Array.from({ length: 1_001 }, () => good) }), { code: 'invalid_request' });
    equal((await lastUses(orgId))[keyId], 0);
    await client.noteKeyUse({ uses: [] });
  });
});
