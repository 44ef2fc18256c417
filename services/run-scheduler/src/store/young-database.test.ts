// Statistics of a young database mislead the planner: a statement that reads whole tables for a run or two grows with
// them until the first analyze (from 2 ms to 139 ms, in a trial). Here analyze never runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim, succeed } from '../run/run.fixture.ts';
import { decide, newFacts, startOf, TestStore } from './run-store.fixture.ts';

const RUNS = 20_000;
const BATCH = 100;
const SMALL_COMMITS = 50;
const SMALL_BATCH = 2;
/** A start, a claim and an end find their row by its key; one read of the whole table reads 20,000 rows. */
const ROWS_READ_PER_RUN_MAX = 50;

test('commits read no more rows than they need while a fresh database takes its first 20,000 runs', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.runs set (autovacuum_enabled = off)`;
    await db.sql`alter table scheduler.queue set (autovacuum_enabled = off)`;
    for (let begun = 0; begun < RUNS; begun += BATCH) await liveRuns(db, BATCH);
    const before = await rowsRead(db, RUNS);
    for (let i = 0; i < SMALL_COMMITS; i++) await liveRuns(db, SMALL_BATCH);
    const runs = SMALL_COMMITS * SMALL_BATCH;
    const readPerRun = ((await rowsRead(db, RUNS + runs)) - before) / runs;
    assert.ok(readPerRun < ROWS_READ_PER_RUN_MAX, `${readPerRun} rows read a run`);
  } finally {
    await db.close();
  }
});

/** Starts, claims and finishes this many runs, in three commits. */
async function liveRuns(db: TestStore, count: number): Promise<void> {
  const nowMs = await db.nowMs();
  const starts = Array.from({ length: count }, () => decide(null, startOf(newFacts(0)), nowMs));
  const claims = starts.map(({ after }) => decide(after, claim('t1'), nowMs));
  const ends = claims.map(({ after }) => decide(after, succeed('t1', 1), nowMs));
  for (const batch of [starts, claims, ends]) assert.equal((await db.store.commit(batch)).done.size, count);
}

/** Rows of runs and of the queue that were read so far. */
async function rowsRead(db: TestStore, stored: number): Promise<number> {
  await db.countWrites();
  const [counted] = await db.sql<{ stored: number; read: number }[]>`
    select max(n_tup_ins) filter (where relname = 'runs')::int as stored,
           sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_user_tables where schemaname = 'scheduler' and relname in ('runs', 'queue')`;
  assert.equal(counted?.stored, stored);
  return counted.read;
}
