import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { AddressPlaces } from './address-places.ts';

const never = new AbortController().signal;

function places(clock: Clock = systemClock, waitMs = 60_000) {
  const all = new AddressPlaces({ clock, placesMax: 16, perOrganizationMax: 4, waitMs });
  const enter = (orgId: OrgId, ...addresses: string[]) =>
    all.enter(
      orgId,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      never,
    );
  return { all, enter };
}

/** Null: it waits. */
async function now<T>(entered: Promise<T>): Promise<T | null> {
  return Promise.race([entered, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);
}

async function fill(enter: (orgId: OrgId, address: string) => Promise<unknown>, orgId: OrgId, address: string) {
  for (let count = 0; ; count++) if ((await now(enter(orgId, address))) === null) return count;
}

test('an organization has its part of an address, and any number of organizations leaves some to the next', async () => {
  const { enter } = places();
  const counts: number[] = [];
  for (const orgId of ['org_a', 'org_b', 'org_c', 'org_d', 'org_e', 'org_f'] as const)
    counts.push(await fill(enter, orgId, '192.0.2.1'));
  assert.deepEqual(counts, [4, 4, 4, 2, 1, 1]);
  assert.equal(await fill(enter, 'org_a', '192.0.2.2'), 4, 'another address is another whole');
});

test('waiters get the places that are released, first come first served', async () => {
  const { enter } = places();
  const held = await Promise.all(Array.from({ length: 4 }, () => enter('org_a', '192.0.2.1')));
  const [first, second, other] = [
    enter('org_a', '192.0.2.1'),
    enter('org_a', '192.0.2.1'),
    enter('org_a', '192.0.2.9'),
  ];
  assert.notEqual(await now(other), null);
  held[0]?.();
  const leave = await first;
  assert.equal(await now(second), null);
  leave?.();
  assert.notEqual(await second, null);
});

test('a name with several addresses takes a place at each, or none', async () => {
  const { enter } = places();
  for (let i = 0; i < 4; i++) await enter('org_a', '192.0.2.1');
  assert.equal(await now(enter('org_a', '192.0.2.2', '192.0.2.1')), null);
  assert.equal(await fill(enter, 'org_a', '192.0.2.2'), 4);
});

test('addresses of one IPv6 network count as one', async () => {
  const { enter } = places();
  await enter('org_a', '2001:db8:0:1::1');
  await enter('org_a', '2001:db8::1:0:0:0:2');
  await enter('org_a', '2001:DB8:0:1:ffff:ffff:ffff:ffff');
  await enter('org_a', '2001:db8:0:1::192.0.2.1');
  assert.equal(await now(enter('org_a', '2001:db8:0:1::3')), null);
  assert.notEqual(await now(enter('org_a', '2001:db8:0:2::3')), null);
  assert.notEqual(await now(enter('org_a', '::1')), null);
});

test('a place that is not free in time is given up, and also when the process stops', async () => {
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (_delayMs, run) => {
      due.push(run);
      return { cancel: () => {} };
    },
  };
  const { all, enter } = places(clock);
  const held = await Promise.all(Array.from({ length: 4 }, () => enter('org_a', '192.0.2.1')));
  const late = enter('org_a', '192.0.2.1');
  due[0]?.();
  assert.equal(await late, null);
  const stop = new AbortController();
  const stopped = all.enter('org_a', [{ address: '192.0.2.1', family: 4 }], stop.signal);
  stop.abort();
  assert.equal(await stopped, null);
  for (const leave of held) leave?.();
  assert.notEqual(await now(enter('org_a', '192.0.2.1')), null);
});
