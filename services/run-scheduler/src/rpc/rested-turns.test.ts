import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { RestedTurns } from './rested-turns.ts';

/** A page takes as long as `finish` says; rests are over when the test says so. */
function slowPages() {
  let nowMs = 0;
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  const clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms: number, end: () => void) {
      rests.push({ ms, end });
      return { cancel() {} };
    },
  };
  const turns = new RestedTurns('pages', clock);
  const page = (orgId: OrgId) =>
    turns
      .run(orgId, () => {
        begun.push(orgId);
        return new Promise<void>((resolve) => ends.push(resolve));
      })
      .then(
        () => 'page',
        (error) => error.code,
      );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async (tookMs: number) => {
    nowMs += tookMs;
    ends.shift()?.();
    await settle();
  };
  const endRest = async () => {
    rests.shift()?.end();
    await settle();
  };
  return { page, begun, settle, finish, rests, endRest };
}

test('an organization reads one page at a time and rests three times as long; another does not wait', async () => {
  const { page, begun, settle, finish, rests, endRest } = slowPages();
  void page('org_a');
  void page('org_a');
  void page('org_b');
  await settle();
  assert.deepEqual(begun, ['org_a', 'org_b']);
  await finish(10);
  assert.deepEqual([begun.length, rests[0]?.ms], [2, 30]);
  await endRest();
  assert.deepEqual(begun, ['org_a', 'org_b', 'org_a']);
});

test('refuses a page beyond 64 waiting ones, and after 5 s', async () => {
  const { page, begun, settle, finish, endRest } = slowPages();
  const all = Array.from({ length: 66 }, () => page('org_a'));
  assert.equal(await all.at(-1), 'rate_limited');
  await finish(5_001);
  await endRest();
  assert.deepEqual(
    [begun, await all[0], await all[1], await all[64]],
    [['org_a'], 'page', 'rate_limited', 'rate_limited'],
  );
  void page('org_a');
  await settle();
  assert.equal(begun.length, 2);
});
