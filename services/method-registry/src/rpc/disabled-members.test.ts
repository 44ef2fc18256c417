import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { newId, type UserId } from '@methods/base/ids';
import { asDoer, newMember, type RunningRegistry, startRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

async function acme() {
  const ada = await newMember(registry.accounts);
  const ben = await newMember(registry.accounts, ada.externalOrgId);
  const disable = (userId: UserId) => registry.accounts.disableMember({ orgId: ada.orgId, userId, doer: asDoer(ada) });
  return { orgId: ada.orgId, ada, ben, disable };
}

test('a disabled person is refused with every later token, and no role restores their access', async () => {
  const { orgId, ada, ben, disable } = await acme();
  const first = (await disable(ben.userId)).member;
  assert.ok((first?.disabledAtMs ?? 0) > 0);
  for (const more of [{}, { claimedRole: 'admin' }, { email: 'ben@example.com', emailVerified: true, name: 'Ben' }]) {
    await assert.rejects(registry.accounts.ensureUser({ ...ben.claims, ...more }), { code: 'forbidden' });
  }
  const role = { orgId, userId: ben.userId, role: 'admin', doer: asDoer(ada) };
  await assert.rejects(registry.accounts.setMemberRole(role), { code: 'not_found' });
  const { member } = await registry.accounts.getMember({ orgId, userId: ben.userId });
  assert.deepEqual([member?.role, member?.email, member?.disabledAtMs], ['member', '', first?.disabledAtMs]);
});

test('their sessions end and no new one is created', async () => {
  const { orgId, ada, ben, disable } = await acme();
  const create = (sessionSha256: Uint8Array) =>
    registry.accounts.createSession({ orgId, userId: ben.userId, sessionSha256, doer: asDoer(ben) });
  const open = randomBytes(32);
  await create(open);
  assert.equal((await registry.accounts.resolveSession({ sessionSha256: open })).member?.userId, ben.userId);
  await disable(ben.userId);
  await assert.rejects(registry.accounts.resolveSession({ sessionSha256: open }), { code: 'unauthorized' });
  await assert.rejects(create(randomBytes(32)), { code: 'not_found' });
  const adas = randomBytes(32);
  await registry.accounts.createSession({ orgId, userId: ada.userId, sessionSha256: adas, doer: asDoer(ada) });
  assert.equal((await registry.accounts.resolveSession({ sessionSha256: adas })).member?.userId, ada.userId);
});

test('their upload links no longer open anything, and take no more of what is on its way', async () => {
  const { orgId, ben, disable } = await acme();
  const tokenSha256 = randomBytes(32);
  const { upload } = await registry.uploads.createUpload({
    orgId,
    idempotencyHash: randomBytes(32),
    tokenSha256,
    displayName: '',
    fileName: 'shop.har',
    contentType: 'application/json',
    sizeBytes: 10,
    doer: asDoer(ben),
  });
  const append = (offsetBytes: number, bytes: number) =>
    registry.uploads.appendUpload({
      orgId,
      uploadId: upload?.uploadId ?? 'upl_none',
      offsetBytes,
      chunk: randomBytes(bytes),
    });
  assert.equal((await registry.uploads.resolveUploadToken({ tokenSha256 })).upload?.orgId, orgId);
  await append(0, 4);
  await disable(ben.userId);
  await assert.rejects(registry.uploads.resolveUploadToken({ tokenSha256 }));
  await assert.rejects(append(4, 6), { code: 'unauthorized' });
});

test('the last admin stays, even when two end each other’s access at once', async () => {
  const { orgId, ada, ben, disable } = await acme();
  await assert.rejects(disable(ada.userId), { code: 'invalid_request' });
  for (let round = 0; round < 5; round++) {
    const first = await newMember(registry.accounts);
    const second = await newMember(registry.accounts, first.externalOrgId, { claimedRole: 'admin' });
    const [one, two] = [first.userId, second.userId].map((userId) =>
      registry.accounts.disableMember({ orgId: first.orgId, userId, doer: asDoer(first) }).then(
        () => 'disabled',
        ({ code }) => code,
      ),
    );
    assert.deepEqual([await one, await two].sort(), ['disabled', 'invalid_request']);
  }
  // A disabled admin does not count as another admin.
  await registry.accounts.setMemberRole({ orgId, userId: ben.userId, role: 'admin', doer: asDoer(ada) });
  await disable(ben.userId);
  await assert.rejects(disable(ada.userId), { code: 'invalid_request' });
  const demotion = { orgId, userId: ada.userId, role: 'viewer', doer: asDoer(ada) };
  await assert.rejects(registry.accounts.setMemberRole(demotion), { code: 'invalid_request' });
});

test('it is in the audit log once, and only members of the organization can be disabled', async () => {
  const { orgId, ada, ben, disable } = await acme();
  await Promise.all([disable(ben.userId), disable(ben.userId)]);
  await disable(ben.userId);
  const { entries } = await registry.accounts.listAudit({ orgId, action: 'member.disable' });
  assert.deepEqual(
    entries.map(({ targetId, by, beforeJson, afterJson }) => [targetId, by?.id, beforeJson, afterJson]),
    [[ben.userId, ada.userId, '{"role": "member"}', '']],
  );
  const stranger = await newMember(registry.accounts);
  for (const userId of [stranger.userId, newId('usr'), 'usr_' as UserId]) {
    await assert.rejects(disable(userId), { code: 'not_found' });
  }
  assert.equal((await registry.accounts.ensureUser(stranger.claims)).member?.disabledAtMs, 0);
});
