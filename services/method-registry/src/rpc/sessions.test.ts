import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { newId, type OrgId, type UserId } from '@methods/base/ids';
import { asDoer, commonRegistry, newMember, type RunningRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest();

function newSignIn() {
  return {
    signInSha256: randomBytes(32),
    state: randomBytes(32).toString('base64url'),
    nonce: randomBytes(32).toString('base64url'),
    codeVerifier: randomBytes(32).toString('base64url'),
    returnTo: '/methods?q=a',
  };
}

async function newSession(member: { orgId: OrgId; userId: UserId }) {
  const sessionSha256 = randomBytes(32);
  const { orgId, userId } = member;
  const { expiresAtMs } = await registry.accounts.createSession({ orgId, userId, sessionSha256, doer: asDoer(member) });
  return { sessionSha256, expiresAtMs };
}

const refusal = (act: Promise<unknown>) =>
  act.then(
    () => null,
    ({ code, message }) => ({ code, message }),
  );

describe('sign-ins', () => {
  test('the state of a session is returned once, even for many concurrent requests', async () => {
    const begun = newSignIn();
    const { expiresAtMs } = await registry.accounts.beginSignIn(begun);
    ok(Math.abs(expiresAtMs - Date.now() - 10 * 60_000) < 60_000);
    const { signInSha256 } = begun;
    const takes = await Promise.allSettled(
      Array.from({ length: 20 }, () => registry.accounts.takeSignIn({ signInSha256 })),
    );
    const taken = takes.flatMap((take) => (take.status === 'fulfilled' ? [take.value] : []));
    equal(taken.length, 1);
    const { state, nonce, codeVerifier, returnTo } = taken[0] ?? {};
    deepEqual({ signInSha256, state, nonce, codeVerifier, returnTo }, begun);
  });

  test('another state takes nothing; a gateway of an earlier release sends none', async () => {
    const [begun, earlier] = [newSignIn(), newSignIn()];
    await registry.accounts.beginSignIn(begun);
    await registry.accounts.beginSignIn(earlier);
    const { signInSha256 } = begun;
    for (const state of ['', 'another', `${begun.state}\0`, 'x'.repeat(300), `${begun.state}\n${begun.state}`]) {
      equal((await refusal(registry.accounts.takeSignIn({ signInSha256, state })))?.code, 'unauthorized');
    }
    equal((await registry.accounts.takeSignIn({ signInSha256, state: begun.state })).nonce, begun.nonce);
    equal((await registry.accounts.takeSignIn({ signInSha256: earlier.signInSha256 })).nonce, earlier.nonce);
  });

  test('unknown, taken, expired and malformed ones get the same refusal', async () => {
    const [taken, expired] = [newSignIn(), newSignIn()];
    await registry.accounts.beginSignIn(taken);
    await registry.accounts.takeSignIn(taken);
    await registry.accounts.beginSignIn(expired);
    await registry.sql`update registry.sign_ins set expires_at = now() where sign_in_sha256 = ${expired.signInSha256}`;
    const digests = [taken.signInSha256, expired.signInSha256, randomBytes(32), randomBytes(31), new Uint8Array()];
    for (const signInSha256 of digests) {
      deepEqual(await refusal(registry.accounts.takeSignIn({ signInSha256 })), {
        code: 'unauthorized',
        message: 'The request carries no valid credential.',
      });
    }
  });

  test('a digest is used once, and leads only to a path of this server', async () => {
    const begun = newSignIn();
    await registry.accounts.beginSignIn(begun);
    await rejects(registry.accounts.beginSignIn(begun), { code: 'idempotency_conflict' });
    const paths = ['', 'https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', '/a b', '/é'];
    for (const returnTo of [...paths, `/${'x'.repeat(2_048)}`]) {
      await rejects(registry.accounts.beginSignIn({ ...newSignIn(), returnTo }), { code: 'invalid_request' });
    }
    for (const fault of [
      { state: 'short' },
      { nonce: '' },
      { codeVerifier: 'x'.repeat(129) },
      { signInSha256: Buffer.from('a') },
    ]) {
      await rejects(registry.accounts.beginSignIn({ ...newSignIn(), ...fault }), { code: 'invalid_request' });
    }
  });

  test('expired ones are removed when others begin, a bounded number at a time', async () => {
    const { sql, accounts } = registry;
    await sql`delete from registry.sign_ins`;
    await sql`
      insert into registry.sign_ins (sign_in_sha256, state, nonce, code_verifier, return_to, expires_at)
      select sha256(n::text::bytea), 's', 'n', 'v', '/', now() - interval '1 second' from generate_series(1, 150) n`;
    const left = async () => (await sql`select from registry.sign_ins`).length;
    await accounts.beginSignIn(newSignIn());
    equal(await left(), 51);
    await Promise.all([accounts.beginSignIn(newSignIn()), accounts.beginSignIn(newSignIn())]);
    equal(await left(), 3);
  });
});

describe('sessions', () => {
  test('resolve to their member with the current role, for seven days', async () => {
    const ann = await newMember(registry.accounts);
    const ben = await newMember(registry.accounts, ann.externalOrgId);
    const { sessionSha256, expiresAtMs } = await newSession(ben);
    ok(Math.abs(expiresAtMs - Date.now() - 7 * 86_400_000) < 60_000);
    const first = await registry.accounts.resolveSession({ sessionSha256 });
    deepEqual(
      [first.member?.orgId, first.member?.userId, first.member?.role, first.expiresAtMs],
      [ben.orgId, ben.userId, 'member', expiresAtMs],
    );
    await registry.accounts.setMemberRole({ orgId: ben.orgId, userId: ben.userId, role: 'viewer', doer: asDoer(ann) });
    equal((await registry.accounts.resolveSession({ sessionSha256 })).member?.role, 'viewer');
  });

  test('ended, expired, unknown and malformed ones get the same refusal; another session continues', async () => {
    const ann = await newMember(registry.accounts);
    const [ended, expired, other] = [await newSession(ann), await newSession(ann), await newSession(ann)];
    await registry.accounts.endSession({ sessionSha256: ended.sessionSha256, doer: asDoer(ann) });
    await registry.sql`update registry.sessions set expires_at = now() where session_sha256 = ${expired.sessionSha256}`;
    const digests = [ended.sessionSha256, expired.sessionSha256, randomBytes(32), randomBytes(33), new Uint8Array()];
    for (const sessionSha256 of digests) {
      deepEqual(await refusal(registry.accounts.resolveSession({ sessionSha256 })), {
        code: 'unauthorized',
        message: 'The request carries no valid credential.',
      });
    }
    equal((await registry.accounts.resolveSession({ sessionSha256: other.sessionSha256 })).member?.userId, ann.userId);
  });

  test('the beginning and end of one are each logged once, with doer and address', async () => {
    const ann = await newMember(registry.accounts);
    const { sessionSha256 } = await newSession(ann);
    for (let i = 0; i < 2; i++) await registry.accounts.endSession({ sessionSha256, doer: asDoer(ann) });
    // An unknown cookie: nothing to end, nothing to log.
    await registry.accounts.endSession({ sessionSha256: randomBytes(32), doer: asDoer(ann) });
    const { entries } = await registry.accounts.listAudit({ orgId: ann.orgId });
    deepEqual(
      entries
        .filter(({ targetKind }) => targetKind === 'session')
        .map(({ action, by, targetId, ip, requestId }) => [action, by?.id, targetId, ip, requestId]),
      [
        ['session.end', ann.userId, ann.userId, '203.0.113.7', 'req-1'],
        ['session.create', ann.userId, ann.userId, '203.0.113.7', 'req-1'],
      ],
    );
  });

  test("a member of another organization, a missing one and a foreign session's digest are refused", async () => {
    const [ann, eve] = [await newMember(registry.accounts), await newMember(registry.accounts)];
    const create = (orgId: OrgId, userId: UserId, sessionSha256: Uint8Array = randomBytes(32)) =>
      refusal(registry.accounts.createSession({ orgId, userId, sessionSha256, doer: asDoer(ann) }));
    for (const [orgId, userId] of [
      [ann.orgId, eve.userId],
      [ann.orgId, newId('usr')],
      [ann.orgId, 'usr_'],
    ] as const) {
      deepEqual(await create(orgId, userId), { code: 'not_found', message: 'There is no such member.' });
    }
    equal((await create(newId('org'), ann.userId))?.code, 'not_found');
    const { sessionSha256 } = await newSession(eve);
    equal((await create(ann.orgId, ann.userId, sessionSha256))?.code, 'idempotency_conflict');
    equal((await registry.accounts.resolveSession({ sessionSha256 })).member?.userId, eve.userId);
  });

  test('a use of a session is recorded, at most every five minutes', async () => {
    const ann = await newMember(registry.accounts);
    const { sessionSha256 } = await newSession(ann);
    await registry.sql`
      update registry.users set last_seen_at = now() - interval '6 minutes' where org_id = ${ann.orgId}`;
    await registry.accounts.resolveSession({ sessionSha256 });
    const { member } = await registry.accounts.resolveSession({ sessionSha256 });
    ok((member?.lastSeenAtMs ?? 0) > Date.now() - 60_000);
  });

  test('expired ones are removed when others begin', async () => {
    const ann = await newMember(registry.accounts);
    const gone = await newSession(ann);
    await registry.sql`update registry.sessions set expires_at = now() where session_sha256 = ${gone.sessionSha256}`;
    await newSession(ann);
    const rows = await registry.sql`select from registry.sessions where session_sha256 = ${gone.sessionSha256}`;
    equal(rows.length, 0);
  });

  test('neither a cookie, nor its digest, nor the state of a sign-in is logged, and no table holds a cookie', async () => {
    const { accounts, sql } = registry;
    const ann = await newMember(accounts, undefined, { email: 'canary@acme.example', name: 'Canary Ann' });
    const cookie = randomBytes(32).toString('base64url');
    const signIn = { ...newSignIn(), signInSha256: sha256(cookie) };
    await accounts.beginSignIn(signIn);
    await accounts.beginSignIn(signIn).catch(() => {});
    await accounts.beginSignIn({ ...signIn, returnTo: '//x' }).catch(() => {});
    const during = JSON.stringify(await sql`select s::text from registry.sign_ins s`);
    await accounts.takeSignIn(signIn);
    await accounts.takeSignIn(signIn).catch(() => {});
    const session = { orgId: ann.orgId, userId: ann.userId, sessionSha256: sha256(cookie), doer: asDoer(ann) };
    await accounts.createSession(session);
    await accounts.createSession(session).catch(() => {});
    await accounts.resolveSession(session);
    const after = JSON.stringify(await sql`select s::text from registry.sign_ins s`);
    const stored = JSON.stringify(await sql`select s::text from registry.sessions s`);
    const log = JSON.stringify((await accounts.listAudit({ orgId: ann.orgId })).entries);
    await accounts.endSession(session);
    ok(stored.includes(sha256(cookie).toString('hex')), 'the dump shows what is stored');
    ok(registry.log().includes('CreateSession'), 'the log shows what was called');
    for (const form of [cookie, Buffer.from(cookie).toString('hex'), Buffer.from(cookie).toString('base64')]) {
      for (const text of [during, after, stored, log, registry.log()]) ok(!text.includes(form), 'a cookie leaked');
    }
    const kept = [signIn.state, signIn.nonce, signIn.codeVerifier];
    for (const text of [after, log, registry.log()]) for (const secret of kept) ok(!text.includes(secret));
    for (const told of [sha256(cookie).toString('hex'), 'canary@acme', 'Canary Ann'])
      ok(!registry.log().includes(told));
    ok(!log.includes(sha256(cookie).toString('hex')));
  });
});
