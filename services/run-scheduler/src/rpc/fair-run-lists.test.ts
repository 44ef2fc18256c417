import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunSelection } from '../store/run-lists.ts';
import { FairRunLists } from './fair-run-lists.ts';

/** A page takes 10 ms when `finish` is called for it; rests are over when the test says so. */
function slowLists() {
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
  const lists = new FairRunLists(
    {
      page({ orgId }) {
        begun.push(orgId);
        return new Promise((resolve) => ends.push(() => resolve({ runs: [], next: null })));
      },
    },
    clock,
  );
  const page = (orgId: string) =>
    lists.page({ orgId } as RunSelection).then(
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

test('an organization has one page at a time and rests three times as long; another does not wait', async () => {
  const { page, begun, settle, finish, rests, endRest } = slowLists();
  void page('a');
  void page('a');
  void page('b');
  await settle();
  assert.deepEqual(begun, ['a', 'b']);
  await finish(10);
  assert.deepEqual([begun.length, rests[0]?.ms], [2, 30]);
  await endRest();
  assert.deepEqual(begun, ['a', 'b', 'a']);
});

test('beyond 64 that wait, and after 5 s, a list is refused', async () => {
  const { page, begun, settle, finish, endRest } = slowLists();
  const all = Array.from({ length: 66 }, () => page('a'));
  assert.equal(await all.at(-1), 'rate_limited');
  await finish(5_001);
  await endRest();
  assert.deepEqual([begun, await all[0], await all[1], await all[64]], [['a'], 'page', 'rate_limited', 'rate_limited']);
  void page('a');
  await settle();
  assert.equal(begun.length, 2);
});
