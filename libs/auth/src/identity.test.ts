import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityOf } from './identity.ts';

const NAMES = { orgClaim: 'https://example.com/org', orgNameClaim: 'company', roleClaim: 'roles' };
const CLAIMS = { sub: 'ada', 'https://example.com/org': 'acme' };

test('claims are read by the configured names', () => {
  assert.deepEqual(identityOf({ ...CLAIMS, company: ' Acme\n& Co ', email: 'a@b.example', roles: 'viewer' }, NAMES), {
    externalOrgId: 'acme',
    subject: 'ada',
    orgName: 'Acme & Co',
    email: 'a@b.example',
    name: '',
    claimedRole: 'viewer',
  });
  assert.equal(identityOf({ ...CLAIMS, 'https://example.com/org': 42 }, NAMES)?.externalOrgId, '42');
  assert.equal(identityOf({ sub: 'ada', org_id: 'acme' }, NAMES), null);
});

test('ids are taken whole or not at all, display texts are cut', () => {
  const ids = (value: unknown) => identityOf({ ...CLAIMS, sub: value }, NAMES)?.subject;
  assert.equal(ids('😀'.repeat(256)), '😀'.repeat(256));
  for (const bad of ['', 'x'.repeat(257), 'a\0', '\ud800', null, {}, true, ['ada']]) assert.equal(ids(bad), undefined);
  const shown = identityOf({ ...CLAIMS, name: 'x'.repeat(5_000), email: 'x'.repeat(321) }, NAMES);
  assert.deepEqual([shown?.name.length, shown?.email], [256, '']);
});

test('the highest role of a list counts, and unknown roles are ignored', () => {
  const role = (roles: unknown) => identityOf({ ...CLAIMS, roles }, NAMES)?.claimedRole;
  assert.deepEqual([['viewer', 'admin', 'member'], ['staff'], 'owner', 'ADMIN', undefined, { admin: true }].map(role), [
    'admin',
    '',
    '',
    '',
    '',
    '',
  ]);
  assert.equal(identityOf({ ...CLAIMS, roles: 'admin' }, { ...NAMES, roleClaim: null })?.claimedRole, '');
});
