import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Shares } from './shares.ts';

/** Takes until refused; returns how many it got. */
function fill(shares: Shares, orgId: string, key?: string): number {
  let got = 0;
  while (shares.take(orgId, key).ok) got++;
  return got;
}

describe('Shares', () => {
  test('one organization gets half of the places, the next ones less, and each newcomer some', () => {
    const shares = new Shares({ placesMax: 1_000 });
    deepEqual(
      ['a', 'b', 'c', 'd'].map((orgId) => fill(shares, orgId)),
      [500, 250, 125, 63],
    );
    ok(shares.take('e').ok);
    ok(shares.used < 1_000);
  });

  test('an organization that returned places can take them again, up to the free ones', () => {
    const shares = new Shares({ placesMax: 10 });
    const first = shares.take('a');
    equal(fill(shares, 'a'), 4);
    ok(first.ok);
    first.leave();
    first.leave();
    equal(shares.used, 4);
    equal(fill(shares, 'a'), 1);
  });

  test('names the share that is used up', () => {
    const shares = new Shares({ placesMax: 100, perOrganizationMax: 3, perKeyMax: 2 });
    equal(fill(shares, 'a', 'key_1'), 2);
    deepEqual(shares.take('a', 'key_1'), { ok: false, share: 'key', max: 2 });
    equal(fill(shares, 'a', 'key_2'), 1);
    deepEqual(shares.take('a', 'key_3'), { ok: false, share: 'organization', max: 3 });
    ok(shares.take('b', 'key_1').ok);
  });

  test('counts places of any size, and refuses more than the whole', () => {
    const bytes = new Shares({ placesMax: 1_000 });
    ok(bytes.take('a', '', 400).ok);
    deepEqual(bytes.take('a', '', 400), { ok: false, share: 'organization', max: 400 });
    ok(bytes.take('b', '', 600).ok);
    deepEqual(bytes.take('c', '', 1), { ok: false, share: 'all', max: 1_000 });
  });

  test('keeps nothing of organizations that have left', () => {
    const shares = new Shares({ placesMax: 10 });
    const taken = Array.from({ length: 5 }, (_, i) => shares.take(`org_${i}`, 'key'));
    for (const each of taken) if (each.ok) each.leave();
    equal(shares.used, 0);
    equal((shares as unknown as { organizations: Map<string, unknown> }).organizations.size, 0);
  });
});
