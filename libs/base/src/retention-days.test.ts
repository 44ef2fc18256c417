import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { OrgId } from './ids.ts';
import { RetentionDays } from './retention-days.ts';

const GOOD_MS = 300_000;

describe('days that an organization keeps finished runs', () => {
  let nowMs: number;
  let asked: string[];
  let answer: (orgId: OrgId) => Promise<number | null>;
  let retention: RetentionDays;

  beforeEach(() => {
    nowMs = 0;
    asked = [];
    answer = async () => 30;
    const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, after: () => ({ cancel: () => {} }) };
    retention = new RetentionDays({
      clock,
      ask: (orgId) => {
        asked.push(orgId);
        return answer(orgId);
      },
    });
  });

  const daysOf = async (...orgIds: OrgId[]) => Object.fromEntries(await retention.of(orgIds));

  test('are requested once for many and again after five minutes', async () => {
    assert.deepEqual(await daysOf('org_a', 'org_b', 'org_a'), { org_a: 30, org_b: 30 });
    answer = async () => 7;
    nowMs = GOOD_MS - 1;
    assert.deepEqual(await daysOf('org_a'), { org_a: 30 });
    assert.deepEqual(asked, ['org_a', 'org_b']);
    nowMs = GOOD_MS;
    assert.deepEqual(await daysOf('org_a'), { org_a: 7 });
  });

  test('are unknown for an unknown organization and for an invalid answer', async () => {
    for (const nonsense of [null, 0, -1, 1.5, 3_651, Number.NaN]) {
      answer = async () => nonsense;
      assert.deepEqual(await daysOf(`org_${nonsense}`), {});
    }
  });

  test('are not taken from an old reply while the registry is unavailable', async () => {
    await daysOf('org_a');
    answer = () => Promise.reject(new Error('away'));
    assert.deepEqual(await daysOf('org_a'), { org_a: 30 });
    await assert.rejects(daysOf('org_a', 'org_b'), /away/);
    nowMs = GOOD_MS;
    await assert.rejects(daysOf('org_a'), /away/);
  });

  test('that changed during a request are requested again', async () => {
    let release = (_days: number) => {};
    answer = () => new Promise((resolve) => (release = resolve));
    const first = daysOf('org_a');
    retention.changed('org_a');
    release(1);
    assert.deepEqual(await first, {});
    answer = async () => 60;
    assert.deepEqual(await daysOf('org_a'), { org_a: 60 });
  });

  test('are cached for 10,000 organizations, and few are requested at a time', async () => {
    let [underWay, most] = [0, 0];
    answer = async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return 30;
    };
    const many = Array.from({ length: 10_001 }, (_, i) => `org_${i}` as const);
    assert.equal((await retention.of(many)).size, many.length);
    assert.equal(most, 8);
    asked = [];
    await daysOf('org_10000', 'org_0');
    assert.deepEqual(asked, ['org_0']);
  });
});
