import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueEntry } from '../store/run-store.ts';
import { insertInOrder } from './known-queue.ts';

test('entries are kept in order, each run once, and thousands in any order are inserted at little cost', () => {
  let looks = 0;
  const COUNT = 4_000;
  const entries: QueueEntry[] = [];
  const entryOf = (n: number) => ({
    runId: `run_${String(n).padStart(5, '0')}` as const,
    shard: 0,
    get queuedAtMs() {
      looks++;
      return Math.floor(n / 10);
    },
  });
  // Backwards, and then all of them once more in another order.
  for (let n = COUNT - 1; n >= 0; n--) insertInOrder(entries, entryOf(n));
  for (let n = 0; n < COUNT; n++) insertInOrder(entries, entryOf((n * 7) % COUNT));
  assert.deepEqual(
    entries.map(({ runId }) => runId),
    Array.from({ length: COUNT }, (_, n) => entryOf(n).runId),
  );
  assert.ok(looks < 100 * COUNT, `${looks} looks`);
});
