import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptResults } from './kept-results.ts';

test('a result is shown for the attempt that made it only, as often as it is asked for', () => {
  const results = new KeptResults();
  results.keep({ contentId: 'a', attempt: 1 }, { ok: true });
  assert.deepEqual([results.of('a', 1), results.of('a', 1)], [{ ok: true }, { ok: true }]);
  assert.equal(results.of('a', 2), undefined, 'another worker had the last attempt');
  assert.equal(results.of('b', 1), undefined);
});

test('results that no one asks for do not pile up', () => {
  const results = new KeptResults(10_000);
  for (let n = 0; n < 100; n++) results.keep({ contentId: `run ${n}`, attempt: 1 }, { text: 'x'.repeat(1_000) });
  const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => results.of(`run ${n}`, 1) !== undefined);
  assert.deepEqual(kept, [93, 94, 95, 96, 97, 98, 99]);
});
