// Statistics of a young database mislead the planner: without the writer's settings a commit grows with the tables
// until the first analyze (from 2 ms to 139 ms, in a trial). Here nobody ever analyzes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, succeed } from '../run/run.fixture.ts';
import { decide, newFacts, startOf, TestStore } from './run-store.fixture.ts';

const RUNS = 20_000;
const BATCH = 100;
const COMPARED = 50;
/** A plan that reads a whole table is slower by tens here; a busy machine by less than this. */
const RATIO_MAX = 6;

test('commits stay as fast as they were while a fresh database takes its first 20,000 runs', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.runs set (autovacuum_enabled = off)`;
    await db.sql`alter table scheduler.queue set (autovacuum_enabled = off)`;
    const nowMs = await db.nowMs();
    const spansMs: number[] = [];
    for (let begun = 0; begun < RUNS; begun += BATCH) {
      const starts = Array.from({ length: BATCH }, () => decide(null, startOf(newFacts(0)), nowMs));
      const claims = starts.map(({ after }) => decide(after, claim('t1'), nowMs));
      const ends = claims.map(({ after }) => decide(after, succeed('t1', 1), nowMs));
      const beganMs = performance.now();
      for (const batch of [starts, claims, ends]) assert.equal((await db.store.commit(batch)).done.size, BATCH);
      spansMs.push(performance.now() - beganMs);
    }
    const [first, last] = [median(spansMs.slice(0, COMPARED)), median(spansMs.slice(-COMPARED))];
    assert.ok(
      last < RATIO_MAX * first,
      `median of a batch: ${first.toFixed(1)} ms at first, ${last.toFixed(1)} ms at last`,
    );
  } finally {
    await db.close();
  }
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
