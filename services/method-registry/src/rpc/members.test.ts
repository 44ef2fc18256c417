import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { newId, type OrgId, type UserId } from '@methods/base/ids';
import {
  asDoer,
  commonRegistry,
  newMember,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';

const ISSUER = 'https://id.example';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

/** Actions of an organization's log with the changes, oldest first. */
async function auditOf(orgId: OrgId) {
  const { entries } = await registry.accounts.listAudit({ orgId, limit: 200 });
  return entries
    .map(({ action, targetId, by, beforeJson, afterJson }) => ({
      action,
      targetId,
      by: by?.id,
      before: beforeJson === '' ? null : JSON.parse(beforeJson),
      after: afterJson === '' ? null : JSON.parse(afterJson),
    }))
    .reverse();
}

describe('the first request of a user', () => {
  test('100 simultaneous ones of one organization create it once, with one admin', async () => {
    const externalOrgId = randomBytes(8).toString('hex');
    const members = await Promise.all(
      Array.from({ length: 100 }, () => newMember(registry.accounts, externalOrgId, { orgName: 'Acme' })),
    );
    equal(new Set(members.map(({ orgId }) => orgId)).size, 1);
    equal(new Set(members.map(({ userId }) => userId)).size, 100);
    deepEqual(members.filter(({ role }) => role === 'admin').length, 1);
    deepEqual(members.filter(({ role }) => role === 'member').length, 99);
    equal(members[0]?.orgName, 'Acme');
    const log = await auditOf(members[0]?.orgId ?? 'org_none');
    equal(log.filter(({ action }) => action === 'member.join').length, 100);
  });

  test('100 simultaneous ones of one person create them once, with one audit line', async () => {
    const request = { issuer: ISSUER, externalOrgId: randomBytes(8).toString('hex'), subject: 'ann' };
    const replies = await Promise.all(Array.from({ length: 100 }, () => registry.accounts.ensureUser(request)));
    equal(new Set(replies.map(({ member }) => member?.userId)).size, 1);
    ok(replies.every(({ member }) => member?.role === 'admin'));
    const [first] = replies;
    const userId = first?.member?.userId;
    deepEqual(await auditOf(first?.member?.orgId ?? 'org_none'), [
      { action: 'member.join', targetId: userId, by: userId, before: null, after: { role: 'admin' } },
    ]);
  });

  test('an organization that existed before its first user gives them the admin role', async () => {
    const externalOrgId = randomBytes(8).toString('hex');
    const { orgId } = await registry.client.ensureOrganization({
      issuer: ISSUER,
      externalId: externalOrgId,
      name: 'B',
    });
    const [ann, ben] = [
      await newMember(registry.accounts, externalOrgId),
      await newMember(registry.accounts, externalOrgId),
    ];
    deepEqual([ann.orgId, ann.orgName, ann.role, ben.role], [orgId, 'B', 'admin', 'member']);
  });

  test('a claimed role takes precedence over being first, and no later user becomes admin for being first', async () => {
    const externalOrgId = randomBytes(8).toString('hex');
    const ann = await newMember(registry.accounts, externalOrgId, { claimedRole: 'viewer' });
    const ben = await newMember(registry.accounts, externalOrgId);
    const eve = await newMember(registry.accounts, externalOrgId, { claimedRole: 'admin' });
    deepEqual([ann.role, ben.role, eve.role], ['viewer', 'member', 'admin']);
  });

  test('one subject of two issuers, or of two organizations, is two people', async () => {
    const claims = { issuer: ISSUER, externalOrgId: randomBytes(8).toString('hex'), subject: 'ann' };
    const replies = await Promise.all([
      registry.accounts.ensureUser(claims),
      registry.accounts.ensureUser({ ...claims, issuer: 'https://other.example' }),
      registry.accounts.ensureUser({ ...claims, externalOrgId: randomBytes(8).toString('hex') }),
    ]);
    equal(new Set(replies.map(({ member }) => member?.userId)).size, 3);
    equal(new Set(replies.map(({ member }) => member?.orgId)).size, 3);
  });

  test('a value that is too long, empty, not a role or holds NUL is refused, and nothing is created', async () => {
    const externalOrgId = randomBytes(8).toString('hex');
    const good = { issuer: ISSUER, externalOrgId, subject: 'ann' };
    const wrong = [
      { subject: '' },
      { subject: 'x'.repeat(257) },
      { subject: 'a\0b' },
      { email: `${'x'.repeat(320)}@` },
      { name: 'x'.repeat(10_000) },
      { name: 'a\0b' },
      { claimedRole: 'owner' },
      { externalOrgId: '' },
      { orgName: 'x'.repeat(257) },
      { issuer: 'a\0b' },
      { requestId: 'x'.repeat(129) },
    ];
    for (const fault of wrong) {
      await rejects(registry.accounts.ensureUser({ ...good, ...fault }), { code: 'invalid_request' });
    }
    const made = await registry.sql`select from registry.organizations where external_id = ${externalOrgId}`;
    equal(made.length, 0);
  });
});

describe('a known user', () => {
  test('has the e-mail and name of the newest token; a token without them changes neither', async () => {
    const { claims, userId } = await newMember(registry.accounts);
    const told = await registry.accounts.ensureUser({ ...claims, email: 'ann@acme.example', name: 'Ann' });
    const silent = await registry.accounts.ensureUser(claims);
    for (const { member } of [told, silent]) {
      deepEqual([member?.userId, member?.email, member?.name], [userId, 'ann@acme.example', 'Ann']);
    }
  });

  test('follows the role that the issuer claims until an admin sets another', async () => {
    const admin = await newMember(registry.accounts);
    const ben = await newMember(registry.accounts, admin.externalOrgId, { claimedRole: 'viewer' });
    const seen = async (claimedRole: string) =>
      (await registry.accounts.ensureUser({ ...ben.claims, claimedRole })).member?.role;
    equal(await seen('member'), 'member');
    // A token without the claim, such as one for fewer scopes, does not change the role.
    equal(await seen(''), 'member');
    await registry.accounts.setMemberRole({
      orgId: ben.orgId,
      userId: ben.userId,
      role: 'viewer',
      doer: asDoer(admin),
    });
    equal(await seen('admin'), 'viewer');
    deepEqual(
      (await auditOf(ben.orgId)).filter(({ action }) => action === 'member.role'),
      [
        {
          action: 'member.role',
          targetId: ben.userId,
          by: 'issuer',
          before: { role: 'viewer' },
          after: { role: 'member' },
        },
        {
          action: 'member.role',
          targetId: ben.userId,
          by: admin.userId,
          before: { role: 'member' },
          after: { role: 'viewer' },
        },
      ],
    );
  });

  test('is recorded again only after five minutes', async () => {
    const { claims, orgId, userId } = await newMember(registry.accounts);
    const version = async () => {
      const [row] =
        await registry.sql`select xmin::text from registry.users where org_id = ${orgId} and user_id = ${userId}`;
      return row?.xmin;
    };
    const first = await version();
    await registry.accounts.ensureUser(claims);
    equal(await version(), first);
    await registry.sql`
      update registry.users set last_seen_at = now() - interval '6 minutes' where org_id = ${orgId} and user_id = ${userId}`;
    const { member } = await registry.accounts.ensureUser(claims);
    ok((member?.lastSeenAtMs ?? 0) > Date.now() - 60_000);
  });
});

describe('members', () => {
  test('are listed newest first, a page at a time, only of their own organization', async () => {
    const admin = await newMember(registry.accounts);
    const { orgId } = admin;
    const userIds = [admin.userId];
    for (let i = 0; i < 4; i++) userIds.unshift((await newMember(registry.accounts, admin.externalOrgId)).userId);
    userIds.sort().reverse();
    await newMember(registry.accounts);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await registry.accounts.listMembers({ orgId, cursor, limit: 2 });
      ok(page.members.length <= 2);
      seen.push(...page.members.map(({ userId }) => userId));
      cursor = page.nextCursor;
    } while (cursor !== '');
    deepEqual(seen, userIds);
    for (const wrong of ['!', 'dXNyXzE', 'x'.repeat(1_000), Buffer.from(newId('key')).toString('base64url')]) {
      await rejects(registry.accounts.listMembers({ orgId, cursor: wrong }), { code: 'invalid_request' });
    }
    await rejects(registry.accounts.listMembers({ orgId, limit: 201 }), { code: 'invalid_request' });
  });

  test('the last admin cannot be demoted, and a repeat changes and logs nothing', async () => {
    const ann = await newMember(registry.accounts);
    const { orgId } = ann;
    const ben = await newMember(registry.accounts, ann.externalOrgId);
    const set = (userId: UserId, role: string) =>
      registry.accounts.setMemberRole({ orgId, userId, role, doer: asDoer(ann) });
    const refused = await set(ann.userId, 'viewer').catch((error) => error);
    deepEqual([refused.code, refused.findings?.[0]?.code], ['invalid_request', 'last_admin']);
    equal((await set(ann.userId, 'admin')).member?.role, 'admin');
    equal((await set(ben.userId, 'admin')).member?.role, 'admin');
    equal((await set(ann.userId, 'member')).member?.role, 'member');
    const lines = (await auditOf(orgId)).length;
    equal((await set(ann.userId, 'member')).member?.role, 'member');
    equal((await auditOf(orgId)).length, lines);
    await rejects(set(ben.userId, 'viewer'), { code: 'invalid_request' });
    await rejects(set(ben.userId, 'owner'), { code: 'invalid_request' });
    await rejects(set(newId('usr'), 'viewer'), { code: 'not_found' });
  });

  test('admins who all demote each other at once leave one admin', async () => {
    for (let round = 0; round < 10; round++) {
      const ann = await newMember(registry.accounts);
      const { orgId } = ann;
      const admins = [ann.userId];
      for (let i = 0; i < 4; i++) {
        const claims = { claimedRole: 'admin' };
        admins.push((await newMember(registry.accounts, ann.externalOrgId, claims)).userId);
      }
      const demotions = await Promise.allSettled(
        admins.map((userId) =>
          registry.accounts.setMemberRole({ orgId, userId, role: 'member', doer: { kind: 'system', id: 'test' } }),
        ),
      );
      const refused = demotions.flatMap((demotion) => (demotion.status === 'rejected' ? [demotion.reason.code] : []));
      deepEqual(refused, ['invalid_request']);
      const { members } = await registry.accounts.listMembers({ orgId });
      equal(members.filter(({ role }) => role === 'admin').length, 1);
    }
  });

  test('of another organization, a missing one and a malformed id get the same refusal', async () => {
    const [ann, eve] = [await newMember(registry.accounts), await newMember(registry.accounts)];
    const refusals = await Promise.all(
      [eve.userId, newId('usr'), 'usr_', "' or 1=1"].map((userId) =>
        registry.accounts
          .setMemberRole({ orgId: ann.orgId, userId: userId as UserId, role: 'viewer', doer: asDoer(ann) })
          .then(
            () => null,
            ({ code, message }) => ({ code, message }),
          ),
      ),
    );
    for (const refusal of refusals) deepEqual(refusal, { code: 'not_found', message: 'There is no such member.' });
    const { members } = await registry.accounts.listMembers({ orgId: eve.orgId });
    deepEqual(
      members.map(({ userId, role }) => [userId, role]),
      [[eve.userId, 'admin']],
    );
    deepEqual((await registry.accounts.listMembers({ orgId: await newOrganization(registry.client) })).members, []);
  });
});
