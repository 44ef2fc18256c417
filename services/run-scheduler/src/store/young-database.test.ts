// Statistics of a young database mislead the planner: a statement that reads whole tables for a run or two grows with
// them until the first analyze (from 2 ms to 139 ms, in a trial). Here nobody ever analyzes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, succeed } from '../run/run.fixture.ts';
import { decide, newFacts, startOf, TestStore } from './run-store.fixture.ts';

const RUNS = 20_000;
const BATCH = 100;
const MEASURED = 50;
/** Reading the whole table of runs makes the small commits at the end more than four times as slow. */
const RATIO_MAX = 2.5;

test('commits stay as fast as they were while a fresh database takes its first 20,000 runs', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.runs set (autovacuum_enabled = off)`;
    await db.sql`alter table scheduler.queue set (autovacuum_enabled = off)`;
    const firstMs = await medianCommitMs(db);
    for (let begun = 0; begun < RUNS; begun += BATCH) await liveRuns(db, BATCH);
    const lastMs = await medianCommitMs(db);
    assert.ok(
      lastMs < RATIO_MAX * firstMs,
      `median: ${firstMs.toFixed(1)} ms at first, ${lastMs.toFixed(1)} ms at last`,
    );
  } finally {
    await db.close();
  }
});

/** Starts, claims and finishes so many runs, in three commits. */
async function liveRuns(db: TestStore, count: number): Promise<void> {
  const nowMs = await db.nowMs();
  const starts = Array.from({ length: count }, () => decide(null, startOf(newFacts(0)), nowMs));
  const claims = starts.map(({ after }) => decide(after, claim('t1'), nowMs));
  const ends = claims.map(({ after }) => decide(after, succeed('t1', 1), nowMs));
  for (const batch of [starts, claims, ends]) assert.equal((await db.store.commit(batch)).done.size, count);
}

async function medianCommitMs(db: TestStore): Promise<number> {
  const spansMs: number[] = [];
  for (let i = 0; i < MEASURED; i++) {
    const beganMs = performance.now();
    await liveRuns(db, 2);
    spansMs.push(performance.now() - beganMs);
  }
  return spansMs.sort((a, b) => a - b)[MEASURED >> 1] ?? 0;
}
