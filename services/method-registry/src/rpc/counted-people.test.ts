import { deepEqual, equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { newMember, type RunningRegistry, startRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

const asking = (...policies: string[]) =>
  Buffer.from(
    `format: method/2\nname: ask-two\nsteps:\n${policies
      .map((policy, n) => `  - name: s${n}\n    ask: { question: Go?, ${policy} }\n    out: { go: boolean }\n`)
      .join('')}`,
  );

test('a save warns of questions that need more people than may answer, and succeeds', async () => {
  const { orgId, externalOrgId } = await newMember(registry.accounts, undefined, {
    email: 'Ann@example.com',
    emailVerified: true,
  });
  await newMember(registry.accounts, externalOrgId, { email: 'bob@example.com', emailVerified: true });
  await newMember(registry.accounts, externalOrgId, {
    claimedRole: 'viewer',
    email: 'cy@example.com',
    emailVerified: true,
  });
  const dan = await newMember(registry.accounts, externalOrgId, { claimedRole: 'admin', email: 'dan@example.com' });
  await registry.accounts.disableMember({ orgId, userId: dan.userId, doer: TEST_DOER });
  const found = async (...policies: string[]) => {
    const request = { orgId, idempotencyHash: randomBytes(32), source: asking(...policies), doer: TEST_DOER };
    const { method, warnings } = await registry.client.createMethod(request);
    equal(method?.status, 'ready');
    return warnings.map(({ code, line, message }) => `${code} ${line}: ${message.split('and ')[1]}`);
  };
  deepEqual(await found('needs: 2'), []);
  deepEqual(await found('needs: 3', 'needs: 1', 'needs: { count: 4 }'), [
    'M522 5: only 2 people may answer it',
    'M522 11: only 2 people may answer it',
  ]);
  deepEqual(await found('needs: 2, to: admin'), ['M522 5: only 1 person may answer it']);
  // A role includes people with a higher one.
  deepEqual(await found('needs: 3, to: [member]'), ['M522 5: only 2 people may answer it']);
  deepEqual(await found('needs: 3, to: viewer'), []);
  // A person counts once, by role or by address, and an address without a member counts as no one.
  deepEqual(await found('needs: 2, to: [admin, ann@example.com]'), ['M522 5: only 1 person may answer it']);
  deepEqual(await found('needs: 2, to: [admin, CY@example.com]'), []);
  deepEqual(await found('needs: 2, to: [admin, else@example.org]'), ['M522 5: only 1 person may answer it']);
  deepEqual(await found('needs: 2, to: [bob@example.com, else@example.org]'), ['M522 5: only 1 person may answer it']);
  await newMember(registry.accounts, externalOrgId, { claimedRole: 'viewer', email: 'eve@example.com' });
  deepEqual(await found('needs: 2, to: [admin, eve@example.com]'), ['M522 5: only 1 person may answer it']);
  deepEqual(await found('needs: 2, to: admin, escalate: { after: 1h, to: member }'), []);
  // The source shows it even without the organization.
  deepEqual(await found('needs: 2, to: ann@example.com'), ['M522 5: only 1 person may answer it']);
});

test('a check without saving gives the same warning', async () => {
  const { orgId } = await newMember(registry.accounts);
  const { ok, findings } = await registry.client.validateSource({ orgId, source: asking('needs: 2') });
  deepEqual([ok, findings.map(({ code, severity }) => `${code} ${severity}`)], [true, ['M522 warning']]);
});
