import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRunId } from '@methods/base/ids';
import type { FailedRun } from '../store/run-statistics.ts';
import { failureGroups } from './statistics-service.ts';

function failed(message: string, more: Partial<FailedRun> & { step?: string; code?: string } = {}): FailedRun {
  const { step = 'charge', code = 'step_failed', ...rest } = more;
  const error = { code, kind: 'http', message, step };
  return { runId: newRunId(0), method: 'wf_1', failedAtMs: 5, isSealed: false, error, ...rest };
}

const causes = (runs: FailedRun[]) => failureGroups(runs).map(({ message, runIds }) => [message, runIds.length]);

test('messages that differ only in ids, times and numbers are one cause', () => {
  const runs = [
    failed('card 4711 declined for run_0101m7y804g33sn568qvqft2vt after 12.5 s'),
    failed('card 12 declined for run_0101m7y804g33sn568qvqft2zz after 3 s'),
    failed('key 0f8fad5b-d9cb-469f-a165-70867728950e at 2026-11-25T10:00:00Z'),
    failed('key 7c9e6679-7425-40de-944b-e07fc1f90ae7 at 2026-11-24T09:13:59Z'),
    failed('digest deadbeef00aa11 is wrong'),
    failed('digest deadbeef00aa12 is wrong'),
  ];
  assert.deepEqual(causes(runs), [
    ['card # declined for # after # s', 2],
    ['key # at #', 2],
    ['digest # is wrong', 2],
  ]);
});

test('words are no numbers, and another step, code or method is another cause', () => {
  assert.deepEqual(causes([failed('facade effaced accessed_the_deed')]), [['facade effaced accessed_the_deed', 1]]);
  const one = failed('no');
  const others = [
    failed('no', { step: 'ship' }),
    failed('no', { code: 'check_failed' }),
    failed('no', { method: 'wf_2' }),
  ];
  assert.equal(failureGroups([one, ...others]).length, 4);
});

test('the rounds of a loop are one step, and only the first line counts', () => {
  const runs = [
    failed('lost\nat line 1', { step: 'each[3]/fetch' }),
    failed('lost\nat line 2', { step: 'each[17]/fetch' }),
  ];
  const [group, ...more] = failureGroups(runs);
  assert.deepEqual([group?.step, group?.message, more], ['each[#]/fetch', 'lost', []]);
});

test('a group has its runs newest first, its times, and the largest group is the first', () => {
  const [newest, middle, oldest] = [
    failed('b', { failedAtMs: 9 }),
    failed('a', { failedAtMs: 7 }),
    failed('b', { failedAtMs: 3 }),
  ];
  const [first, second] = failureGroups([newest, middle, oldest]);
  assert.deepEqual(first?.runIds, [newest.runId, oldest.runId]);
  assert.deepEqual([first?.newestAtMs, first?.oldestAtMs, second?.message], [9, 3, 'a']);
});

test('what a worker sealed is no message, and a long one is cut at a whole character', () => {
  assert.deepEqual(causes([failed('{"$sealed":"AAAA"}', { isSealed: true })]), [['', 1]]);
  const [group] = failureGroups([failed('😀'.repeat(2_000))]);
  assert.equal(group?.message, '😀'.repeat(300));
  assert.equal(
    failureGroups(Array.from({ length: 300 }, (_, i) => failed('x', { step: `s${String.fromCharCode(97 + i)}` })))
      .length,
    100,
  );
});
