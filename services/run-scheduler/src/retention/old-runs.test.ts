import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { runIdBound } from '@methods/base/ids';
import { ask, cancel, claim, fail, sleep } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { EPOCH, TestStore } from '../store/run-store.fixture.ts';
import { writerSettings } from '../store/scheduler-database.ts';
import { agedRun, ENDED, folderOf, manyAgedRuns } from './aged-runs.fixture.ts';
import { type AgedRun, deleteQuery, OldRuns, pageQuery, type RunKey } from './old-runs.ts';

const DAY_MS = 86_400_000;
const MANY = 20_000;

describe('runs whose retention is over', () => {
  let db: TestStore;
  let old: OldRuns;

  before(async () => {
    db = await TestStore.open();
    old = new OldRuns({ sql: db.sql, deadlineMs: 60_000 });
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.sql`truncate scheduler.runs, scheduler.steps, scheduler.outbox, scheduler.run_folders,
      scheduler.run_folder_chunks, scheduler.queue, scheduler.deadlines, scheduler.questions`;
  });

  function aged({ facts }: Pick<Run, 'facts'>, keptDays = 30): AgedRun {
    return { runId: facts.runId, orgId: facts.orgId, keptDays };
  }

  async function rows(table: string): Promise<number> {
    const [row] = await db.sql.unsafe<{ n: number }[]>(`select count(*)::int as n from scheduler.${table}`);
    return row?.n ?? -1;
  }

  const isThere = async (run: Pick<Run, 'facts'>) => (await db.load(run.facts.runId)) !== undefined;

  test('are found in the order of their start, a page at a time, only in their shard and without younger ones', async () => {
    const expected: string[] = [];
    for (const days of [400, 40, 31, 3, 2]) expected.push((await agedRun(db, days)).facts.runId);
    await agedRun(db, 50, ENDED, { shard: 1 });
    await agedRun(db, 0.5);
    const beforeMs = (await db.nowMs()) - DAY_MS;
    const found: RunKey[] = [];
    for (;;) {
      const page = await old.page(0, found.at(-1) ?? null, beforeMs, 2);
      assert.ok(page.length <= 2);
      if (page.length === 0) break;
      found.push(...page);
    }
    assert.deepEqual(
      found.map((run) => run.runId),
      expected,
    );
  });

  test('are deleted with their steps, folders and questions, and no others are', async () => {
    const asked = [claim('t'), ask('t', 1, 'q_1', null), cancel];
    const gone = [
      await agedRun(db, 31),
      await agedRun(db, 31, asked),
      await agedRun(db, 31, [claim('t'), fail('t', 1)]),
    ];
    const kept = [await agedRun(db, 29), await agedRun(db, 29, asked)];
    for (const run of [...gone, ...kept]) await folderOf(db, run);
    const deleted = await old.delete(
      0,
      EPOCH,
      [...gone, ...kept].map((run) => aged(run)),
    );
    assert.deepEqual({ ...deleted }, { held: true, runs: 3, steps: 3, folders: 3 });
    assert.deepEqual(await Promise.all(gone.map(isThere)), [false, false, false]);
    const tables = ['runs', 'steps', 'run_folders', 'run_folder_chunks', 'questions'];
    assert.deepEqual(await Promise.all(tables.map(rows)), [2, 3, 2, 2, 1]);
  });

  test('are those that ended long enough ago, regardless of their start', async () => {
    const run = await agedRun(db, 90, ENDED, { endedDays: 29.9 });
    assert.equal((await old.delete(0, EPOCH, [aged(run)])).runs, 0);
    assert.equal((await old.delete(0, EPOCH, [aged(run, 29)])).runs, 1);
  });

  test('are never unfinished', async () => {
    const unfinished = [
      await agedRun(db, 4_000, []),
      await agedRun(db, 4_000, [claim('t1')]),
      await agedRun(db, 4_000, [claim('t1'), ask('t1', 1)]),
      await agedRun(db, 4_000, [claim('t1'), sleep('t1', 1)]),
    ];
    assert.equal(
      (
        await old.delete(
          0,
          EPOCH,
          unfinished.map((run) => aged(run, 1)),
        )
      ).runs,
      0,
    );
    assert.equal(await rows('runs'), unfinished.length);
  });

  test('stay while one of their events is still to be sent', async () => {
    const [unsent, sent] = [await agedRun(db, 31), await agedRun(db, 31)];
    const { runId, orgId, shard, createdAtMs } = unsent.facts;
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms)
      values (${`${runId}.5`}, ${orgId}, ${runId}, ${shard}, 5, '', ${createdAtMs})`;
    assert.equal((await old.delete(0, EPOCH, [aged(unsent), aged(sent)])).runs, 1);
    assert.deepEqual([await isThere(unsent), await isThere(sent)], [true, false]);
    await db.sql`delete from scheduler.outbox`;
    assert.equal((await old.delete(0, EPOCH, [aged(unsent)])).runs, 1);
  });

  test('are kept if the shard has another epoch, or if they belong to another shard or organization', async () => {
    const run = await agedRun(db, 31);
    assert.deepEqual(
      { ...(await old.delete(0, EPOCH + 1, [aged(run)])) },
      { held: false, runs: 0, steps: 0, folders: 0 },
    );
    assert.deepEqual((await old.delete(0, EPOCH - 1, [aged(run)])).held, false);
    assert.equal((await old.delete(1, EPOCH, [aged(run)])).runs, 0);
    assert.equal((await old.delete(0, EPOCH, [{ ...aged(run), orgId: 'org_b' }])).runs, 0);
    assert.equal(await isThere(run), true);
    assert.equal((await old.delete(0, EPOCH, [aged(run)])).runs, 1);
  });

  test('are not deleted by an owner that is just taking the shard', async () => {
    const run = await agedRun(db, 31);
    let deleting: Promise<{ held: boolean; runs: number }> | undefined;
    await db.sql.begin(async (taker) => {
      await taker`update scheduler.shards set epoch = epoch + 1 where shard = 0`;
      deleting = old.delete(0, EPOCH, [aged(run)]);
      for (;;) {
        const [waiting] =
          await taker`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
        if (waiting !== undefined) break;
      }
    });
    const { held, runs } = (await deleting) ?? {};
    assert.deepEqual([held, runs, await isThere(run)], [false, 0, true]);
    await db.sql`update scheduler.shards set epoch = ${EPOCH}`;
  });

  for (const analyzed of [false, true]) {
    test(`are found only by the primary key and deleted by it, statistics ${analyzed ? 'made' : 'never made'}`, async () => {
      await manyAgedRuns(db, MANY, 40, 'org_a');
      if (analyzed) await db.sql`vacuum analyze scheduler.runs`;
      const page = await explained(pageQuery, 'text, text, text, bigint', [
        `'${runIdBound(0, 0)}'`,
        `''`,
        `'${runIdBound(1, 0)}'`,
        '500',
      ]);
      assert.match(page, /Index Only Scan using runs_pkey on runs/);
      assert.match(page, /Index Cond: \(\(ROW\(run_id, org_id\) > ROW\(.*\)\) AND \(run_id < /);
      assert.doesNotMatch(page, /Sort|Seq Scan|Filter/);
      const ids = (await old.page(0, null, await db.nowMs(), 200)).map((run) => run.runId);
      const array = (values: readonly string[]) => `'{${values.join(',')}}'`;
      const deletion = await explained(deleteQuery, 'smallint, bigint, text[], text[], integer[]', [
        '0',
        '1',
        array(ids),
        array(ids.map(() => 'org_a')),
        array(ids.map(() => '30')),
      ]);
      assert.match(deletion, /(Index|Bitmap Index) Scan (using|on) runs_pkey/);
      assert.match(deletion, /(Index|Bitmap Index) Scan (using|on) steps_pkey/);
      assert.match(deletion, /run_folders_by_run|run_folders_pkey/);
      assert.match(deletion, /Index Cond: \(\(shard = \$\d\) AND \(created_at_ms <= /);
      assert.doesNotMatch(deletion, /Seq Scan on (runs|steps|outbox|run_folders)/);
    });
  }

  /** Returns the plan of the query on the connection of the deletion. */
  async function explained(query: string, types: string, values: readonly string[]): Promise<string> {
    return await db.sql.begin(async (tx) => {
      for (const [name, value] of Object.entries(writerSettings)) await tx.unsafe(`set local ${name} = '${value}'`);
      await tx.unsafe(`prepare it(${types}) as ${query}`);
      const plan = await tx.unsafe(`explain (costs off) execute it(${values.join(', ')})`);
      await tx.unsafe('deallocate it');
      return plan.map((row) => String(row['QUERY PLAN'])).join('\n');
    });
  }
});
