// Statistics of a young database mislead the planner: a statement that reads whole tables for a run or two grows with
// them until the first analyze (from 2 ms to 139 ms, in a trial). Here analyze never runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { answer, ask, claim, succeed } from '../run/run.fixture.ts';
import { OpenQuestionSweep } from './open-question-sweep.ts';
import { decide, newFacts, startOf, TestStore } from './run-store.fixture.ts';

const RUNS = 20_000;
const BATCH = 100;
const SMALL_COMMITS = 50;
const SMALL_BATCH = 2;
/** Postgres may choose a generic plan after five executions on a connection; the pool has two. */
const LOADS_UNTIL_ONE_PLAN = 30;
/** A start, a claim and an end find their row by its key; a single read of the whole table would read 20,000 rows. */
const ROWS_READ_PER_RUN_MAX = 50;

test('commits read no more rows than needed while a fresh database takes its first 20,000 runs', async () => {
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

test('reads the answers of a run by their key, even with a plan from an empty table', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.questions set (autovacuum_enabled = off)`;
    const runs = await Promise.all(
      Array.from({ length: 20 }, () =>
        db.tell(null, startOf(newFacts(0)), claim('t1'), ask('t1', 1, 'q_1', null), answer('q_1', 'aa')),
      ),
    );
    const runIds = runs.map((run) => run.facts.runId);
    const answers = async () => [...(await db.store.load(runIds)).values()].flatMap((run) => run.answers).length;
    for (let i = 0; i < LOADS_UNTIL_ONE_PLAN; i++) assert.equal(await answers(), runs.length);
    await db.sql`
      insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
        state, closed_at_ms, receipt_json)
      select ${runs[0]?.facts.orgId ?? ''}, 'q_2' || n, 'run_' || n, 'm', 'ver_a', 's', 'team', '', 0, 'answered', 0, '{}'
      from generate_series(1, ${RUNS}) n`;
    const before = await questionsRead(db);
    for (let i = 0; i < SMALL_COMMITS; i++) assert.equal(await answers(), runs.length);
    const readPerRun = ((await questionsRead(db)) - before) / SMALL_COMMITS / runs.length;
    assert.ok(readPerRun < ROWS_READ_PER_RUN_MAX, `${readPerRun} rows read a run`);
  } finally {
    await db.close();
  }
});

test('the sweep of open questions reads none of the others that their runs asked', async () => {
  const db = await TestStore.open();
  try {
    await db.sql`alter table scheduler.questions set (autovacuum_enabled = off)`;
    const sweep = new OpenQuestionSweep({ sql: db.writer, isMine: () => true, logger: silentLogger });
    for (let i = 0; i < LOADS_UNTIL_ONE_PLAN; i++) await sweep.look();
    const run = await db.tell(null, startOf(newFacts(0)), claim('t1'), ask('t1', 1, 'q_1', null));
    const { runId, orgId } = run.facts;
    await db.sql`
      insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
        state, closed_at_ms, receipt_json)
      select ${orgId}, 'q_2' || n, ${runId}, 'm', 'ver_a', 's', 'team', '', 0, 'answered', 0, '{}'
      from generate_series(1, ${RUNS}) n`;
    const before = await questionsRead(db);
    for (let i = 0; i < SMALL_COMMITS; i++) await sweep.look();
    const read = ((await questionsRead(db)) - before) / SMALL_COMMITS;
    assert.ok(read > 0 && read < ROWS_READ_PER_RUN_MAX, `${read} rows read`);
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

/** Returns how many rows of runs and of the queue were read so far. */
async function rowsRead(db: TestStore, stored: number): Promise<number> {
  await db.countWrites();
  const [counted] = await db.sql<{ stored: number; read: number }[]>`
    select max(n_tup_ins) filter (where relname = 'runs')::int as stored,
           sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_user_tables where schemaname = 'scheduler' and relname in ('runs', 'queue')`;
  assert.equal(counted?.stored, stored);
  return counted.read;
}

async function questionsRead(db: TestStore): Promise<number> {
  await Promise.all([db.sql, db.sql, db.writer, db.writer].map((sql) => sql`select pg_stat_force_next_flush()`));
  const [counted] = await db.sql<{ read: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_user_tables where schemaname = 'scheduler' and relname = 'questions'`;
  assert.ok(counted);
  return counted.read;
}
