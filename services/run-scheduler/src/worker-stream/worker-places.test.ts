import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { WorkerAdmission } from './worker-admission.ts';

function admission() {
  const all = new WorkerAdmission({
    pace: { admit: () => null },
    methods: { unknown: () => null },
    waiters: { hasRoomFor: () => true },
  } as unknown as ConstructorParameters<typeof WorkerAdmission>[0]);
  const worker = { keyId: 'key_a' as const, methods: [], isGone: () => false, queues: () => [], checkKeys: () => null };
  return (orgId: OrgId, queueCount = 1) => all.admit({ ...worker, orgId, queueCount }) as () => void;
}

test('an organization gets half of the 10,000 workers of a node, the next one half of the rest', () => {
  const admit = admission();
  let leave = () => {};
  for (let count = 0; count < 5_000; count++) leave = admit('org_a');
  assert.throws(() => admit('org_a'), { code: 'rate_limited', message: /too many workers/ });
  for (let count = 0; count < 2_500; count++) admit('org_b');
  assert.throws(() => admit('org_b'), { code: 'rate_limited' });
  leave();
  admit('org_c');
});

test('the queues of its workers have a share too, and a refused worker holds no place', () => {
  const admit = admission();
  const leave = admit('org_a', 200_000);
  for (let tries = 0; tries < 6_000; tries++) {
    assert.throws(() => admit('org_a', 16_000), { code: 'rate_limited', message: /too many queues/ });
  }
  admit('org_b', 100_000);
  leave();
  admit('org_a', 100_000);
});
