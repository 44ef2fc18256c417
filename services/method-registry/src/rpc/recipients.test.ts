import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type MethodId, newMethodId, type OrgId, type ProductionId, type UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import {
  asDoer,
  newMember,
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

type Person = Awaited<ReturnType<typeof person>>;

function person(name: string, externalOrgId: string, more = {}) {
  const email = `${name}@Example.com`;
  return newMember(registry.accounts, externalOrgId, { name, email, emailVerified: true, ...more });
}

/** Ada and Ben are admins, Cleo is a member, Dan a viewer. */
async function acme() {
  const externalOrgId = randomBytes(8).toString('hex');
  const ada = await person('ada', externalOrgId, { orgName: 'Acme' });
  const ben = await person('ben', externalOrgId, { claimedRole: 'admin' });
  const cleo = await person('cleo', externalOrgId);
  const dan = await person('dan', externalOrgId, { claimedRole: 'viewer' });
  const { orgId } = ada;
  const { methodId, versionId } = await newMethod(registry.client, orgId);
  const publish = (by: Person) => registry.client.publishVersion({ orgId, methodId, versionId, doer: asDoer(by) });
  return { externalOrgId, orgId, methodId, versionId, ada, ben, cleo, dan, publish };
}

async function mailed(
  orgId: OrgId,
  methodId: MethodId | ProductionId,
  to: string[] = [],
  exceptUserId: UserId | '' = '',
): Promise<string[]> {
  const { recipients } = await registry.accounts.listRecipients({ orgId, methodId, to, exceptUserId });
  const text = ({ userId, email, reason }: (typeof recipients)[number]) =>
    `${email.split('@')[0]} ${reason}${userId === '' ? ', no member' : ''}`;
  return recipients.map(text).sort();
}

test('the person who last published the method gets the mail, by either spelling of its id', async () => {
  const { orgId, methodId, cleo, publish } = await acme();
  assert.deepEqual(await mailed(orgId, methodId), ['ada admin', 'ben admin'], 'no one has published it');
  await publish(cleo);
  assert.deepEqual(await mailed(orgId, methodId), ['cleo publisher']);
  const reply = await registry.accounts.listRecipients({ orgId, methodId: `wf_${methodId}` });
  const { recipients, orgName, methodName, timeZone, contentOnDevices, more } = reply;
  assert.deepEqual(
    [orgName, methodName, timeZone, contentOnDevices, more],
    ['Acme', 'Weekly report', 'UTC', false, false],
  );
  assert.deepEqual(
    { ...recipients[0] },
    { ...recipients[0], userId: cleo.userId, email: 'cleo@example.com', name: 'cleo' },
  );
});

test('a publisher counts as none if they are a key or have no verified address or access', async () => {
  for (const make of ['unverified', 'without address', 'disabled', 'key'] as const) {
    const { externalOrgId, orgId, methodId, versionId, ada, publish } = await acme();
    const claims = { unverified: { emailVerified: false }, 'without address': { email: '' } };
    const eve = await person('eve', externalOrgId, make in claims ? claims[make as keyof typeof claims] : {});
    if (make === 'key') {
      const doer = { ...asDoer(eve), kind: 'service_key', id: 'key_00000000000000000000000001' as never };
      await registry.client.publishVersion({ orgId, methodId, versionId, doer });
    } else await publish(eve);
    if (make === 'disabled') {
      await registry.accounts.disableMember({ orgId, userId: eve.userId, doer: asDoer(ada) });
    }
    assert.deepEqual(await mailed(orgId, methodId), ['ada admin', 'ben admin'], make);
  }
});

test('an organization without a verified address mails no one', async () => {
  const { orgId } = await newMember(registry.accounts, undefined, { email: 'a@example.com' });
  const { methodId } = await newMethod(registry.client, orgId);
  assert.deepEqual(await mailed(orgId, methodId), []);
  assert.deepEqual(await mailed(orgId, methodId, ['a@example.com', 'admin']), []);
});

test('a question names people by address and by role, each once, and addresses of no member', async () => {
  const { externalOrgId, orgId, methodId, publish, cleo } = await acme();
  await publish(cleo);
  await person('ada', externalOrgId);
  const other = await acme();
  assert.deepEqual(await mailed(orgId, methodId, ['DAN@example.com', 'cleo@example.com']), ['cleo named', 'dan named']);
  assert.deepEqual(await mailed(orgId, methodId, ['DAN@example.com', ' member ']), [
    'ada named',
    'ben named',
    'cleo named',
    'dan named',
  ]);
  assert.equal((await mailed(orgId, methodId, ['viewer'])).length, 4, 'all members may do what viewers may');
  assert.deepEqual(await mailed(orgId, methodId, ['admin', 'ada@example.com']), ['ada named', 'ben named']);
  assert.deepEqual(await mailed(orgId, methodId, ['Guest@example.com', 'no-address', '']), ['guest named, no member']);
  const eve = await person('eve', other.externalOrgId);
  assert.deepEqual(await mailed(orgId, methodId, ['eve@example.com']), ['eve named, no member'], 'a member elsewhere');
  assert.notEqual(eve.userId, '');
  await person('mallory', externalOrgId, { email: 'boss@example.com', emailVerified: false });
  assert.deepEqual(await mailed(orgId, methodId, ['boss@example.com']), [], 'an address that is only claimed');
});

test('a person who may not answer is not asked, and does not count as publisher', async () => {
  const { orgId, methodId, publish, cleo, ada } = await acme();
  await publish(cleo);
  assert.deepEqual(await mailed(orgId, methodId, [], cleo.userId), ['ada admin', 'ben admin']);
  assert.deepEqual(await mailed(orgId, methodId, [], ada.userId), ['cleo publisher']);
  assert.deepEqual(await mailed(orgId, methodId, ['admin', 'cleo@example.com'], cleo.userId), [
    'ada named',
    'ben named',
  ]);
});

test('at most 50 people of a role get the mail, and the reply says that there are more', async () => {
  const { orgId, methodId } = await acme();
  await registry.sql`
    insert into registry.users (org_id, user_id, subject, email, email_verified, name, first_role)
    select ${orgId}, 'usr_' || lpad(n::text, 26, '0'), 's' || n, n || '@example.com', true, '', 'member'
    from generate_series(1, 60) n`;
  const { recipients, more } = await registry.accounts.listRecipients({ orgId, methodId, to: ['member'] });
  assert.deepEqual([recipients.length, new Set(recipients.map(({ email }) => email)).size, more], [50, 50, true]);
});

test('more than 50 names, an address of a page, and an unknown organization are refused', async () => {
  const { orgId, methodId } = await acme();
  const refusal = (request: { orgId?: OrgId; to?: string[] }) =>
    registry.accounts.listRecipients({ orgId, methodId, ...request }).then(
      () => null,
      (error) => error instanceof ServiceError && error.code,
    );
  assert.equal(await refusal({ to: Array.from({ length: 51 }, (_, n) => `${n}@example.com`) }), 'invalid_request');
  assert.equal(await refusal({ to: [`${'x'.repeat(400)}@example.com`] }), 'invalid_request');
  assert.equal(await refusal({ orgId: 'org_00000000000000000000000000' }), 'not_found');
  assert.deepEqual(await mailed(orgId, newMethodId()), ['ada admin', 'ben admin'], 'a method that is unknown');
  assert.deepEqual(await mailed(await newOrganization(registry.client), methodId), [], 'of another organization');
});

test('an address is verified while the issuer says so, and stays verified in tokens that do not mention it', async () => {
  const { claims } = await person('ada', randomBytes(8).toString('hex'));
  const seen = async (more: object) => {
    const { member } = await registry.accounts.ensureUser({ ...claims, ...more });
    return [member?.email, member?.emailVerified];
  };
  assert.deepEqual(await seen({}), ['ada@Example.com', true]);
  assert.deepEqual(await seen({ email: 'ADA@example.com' }), ['ADA@example.com', true]);
  assert.deepEqual(await seen({ email: 'new@example.com' }), ['new@example.com', false]);
  assert.deepEqual(await seen({ email: 'new@example.com', emailVerified: true }), ['new@example.com', true]);
  assert.deepEqual(await seen({ emailVerified: false }), ['new@example.com', true], 'of no address');
  assert.deepEqual(await seen({ email: 'new@example.com', emailVerified: false }), ['new@example.com', false]);
});

test('a time zone is a name of the IANA database', async () => {
  const { orgId, methodId, ada } = await acme();
  const set = (timeZone: string) => registry.accounts.changeSettings({ orgId, timeZone, doer: asDoer(ada) });
  assert.equal((await set('Europe/Vienna')).settings?.timeZone, 'Europe/Vienna');
  assert.equal((await registry.accounts.listRecipients({ orgId, methodId })).timeZone, 'Europe/Vienna');
  for (const wrong of ['', '+02:00', 'Mars/Base', 'Europe/Vienna\r\nBcc: x', 'x'.repeat(65)]) {
    await assert.rejects(set(wrong), { code: 'invalid_request' }, wrong);
  }
  assert.equal((await registry.accounts.getSettings({ orgId })).settings?.timeZone, 'Europe/Vienna');
});
