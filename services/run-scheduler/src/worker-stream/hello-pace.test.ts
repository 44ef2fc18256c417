import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { ManualClock } from '../manual-clock.fixture.ts';
import { HelloPace } from './hello-pace.ts';

const NAMES = Array.from({ length: 1_000 }, (_, n) => `wf_${n}` as const);

function paceOf(clock: ManualClock) {
  const pace = new HelloPace(clock);
  const hello = (orgId: OrgId, keyId: KeyId, queueCount = 0) =>
    pace.admit({ orgId, keyId, methods: NAMES, queueCount, isGone: () => false });
  /** Uses up the budget of the key, then lets as many hellos wait as allowed. */
  async function fill(orgId: OrgId, keyId: KeyId): Promise<{ waiting: number; code: string }> {
    assert.equal(hello(orgId, keyId, 99 * 500), null);
    for (let waiting = 0; ; waiting++) {
      const refusal = await Promise.race([
        hello(orgId, keyId)?.then(() => null) ?? null,
        new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
      ]).catch((error: unknown) => error);
      if (refusal instanceof ServiceError) return { waiting, code: refusal.code };
    }
  }
  return { hello, fill };
}

test('hellos of a key wait with up to 25,000 names of methods, those of an organization with as many as are free', async () => {
  const { fill, hello } = paceOf(new ManualClock());
  for (const key of ['1', '2', '3', '4']) {
    assert.deepEqual(await fill('org_a', `key_a${key}`), { waiting: 25, code: 'rate_limited' });
  }
  assert.deepEqual(await fill('org_a', 'key_a5'), { waiting: 0, code: 'rate_limited' });
  assert.deepEqual(await fill('org_b', 'key_b1'), { waiting: 25, code: 'rate_limited' });
  assert.equal(hello('org_a', 'key_a6'), null, 'a key with a budget does not wait');
});

test('names are returned when a hello had its turn or waited too long', async () => {
  const clock = new ManualClock();
  const { fill, hello } = paceOf(clock);
  assert.equal((await fill('org_a', 'key_a')).waiting, 25);
  clock.forward(5_000);
  assert.notEqual(hello('org_a', 'key_b', 99 * 500), undefined);
  assert.deepEqual(await fill('org_a', 'key_c'), { waiting: 25, code: 'rate_limited' });
  assert.equal(hello('org_a', 'key_a'), null);
});
