import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContentKey } from '@methods/content/device/content-key';
import { silentLogger } from '@methods/logging/logger';
import { DeviceKeys } from './device-keys.ts';

const OWN = 'n'.repeat(43);
const own = new ContentKey(OWN, 'org_1');
const partOf = (n: number) => String(n).padStart(43, 'p');
const grantOf = (n: number, wrapping = own) => ({
  fromKeyId: `key_${n}`,
  wrapped: wrapping.wrap(`key_${n}`, partOf(n)),
});
const facts = (...contentGrants: ReturnType<typeof grantOf>[]) => ({ orgId: 'org_1', keyId: 'key_own', contentGrants });

test('a worker names its own key and all 20 that may be granted to it, once', () => {
  const keys = new DeviceKeys(OWN);
  const all = facts(...Array.from({ length: 20 }, (_, n) => grantOf(n)));
  assert.equal(keys.learn(all, silentLogger), true);
  const { deviceKeyIds, deviceKeyFingerprints } = keys.named;
  assert.deepEqual([deviceKeyIds.length, deviceKeyIds[0], deviceKeyIds.at(-1)], [21, 'key_own', 'key_19']);
  assert.deepEqual(deviceKeyFingerprints.at(-1), new ContentKey(partOf(19), 'org_1').fingerprint);
  assert.equal(keys.learn(all, silentLogger), false);
});

test('a grant that does not open is reported once, hinders no other key, and may be repaired', () => {
  const keys = new DeviceKeys(OWN);
  const damaged: string[] = [];
  const logger = { warn: ({ key }: object & { key?: unknown }) => damaged.push(String(key)) };
  const learn = (...grants: ReturnType<typeof grantOf>[]) => keys.learn(facts(...grants), logger as never);
  const wrong = grantOf(1, new ContentKey(OWN, 'org_2'));
  assert.equal(learn(wrong, grantOf(2)), true);
  assert.equal(learn(wrong, grantOf(2)), false);
  assert.deepEqual([damaged, keys.named.deviceKeyIds], [['key_1'], ['key_own', 'key_2']]);
  assert.equal(learn(grantOf(1), grantOf(2)), true);
  assert.deepEqual(keys.named.deviceKeyIds, ['key_own', 'key_2', 'key_1']);
});

test('without a content part, or as a person, a worker has no keys', () => {
  for (const keys of [new DeviceKeys(undefined), new DeviceKeys(OWN)]) {
    assert.equal(keys.learn({ ...facts(grantOf(1)), keyId: '' }, silentLogger), false);
    assert.deepEqual(keys.named.deviceKeyIds, []);
  }
});
