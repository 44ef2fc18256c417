import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Caller, callerId, mayUse, type Role } from './caller.ts';

const user = (role: Role): Caller => ({
  ...{ kind: 'user', orgId: 'org_a', userId: 'usr_1', role, name: '', verifiedEmail: '' },
  credential: 'session',
});
const key: Caller = { kind: 'service_key', orgId: 'org_a', keyId: 'key_1' };
const upload: Caller = { kind: 'upload', orgId: 'org_a', uploadId: 'upl_1' };

test('each role may use everything that lower ones may, a key acts as a member, an upload has no role', () => {
  const uses = (caller: Caller) => (['viewer', 'member', 'admin'] as const).map((needed) => mayUse(caller, needed));
  assert.deepEqual([user('viewer'), user('member'), user('admin'), key, upload].map(uses), [
    [true, false, false],
    [true, true, false],
    [true, true, true],
    [true, true, false],
    [false, false, false],
  ]);
});

test('every caller has one name', () => {
  assert.deepEqual([user('viewer'), key, upload].map(callerId), ['usr_1', 'key_1', 'upl_1']);
});
