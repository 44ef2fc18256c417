import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { OrgId, RunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { ask, claim, giveBack, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { ShardLease } from '../shard/shard-lease.ts';
import { RetiredIndex } from './retired-index.ts';
import { takenRun } from './run-row.ts';
import { decide, EPOCH, newFacts, startOf, TestStore } from './run-store.fixture.ts';

const SHARDS = [0, 1, 2, 3];
const OWNED = SHARDS.map((shard) => ({ shard, epoch: EPOCH }));
const RUNS = 200;

describe('running runs', () => {
  let db: TestStore;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.sql`truncate scheduler.runs, scheduler.running, scheduler.queue`;
    await db.sql`update scheduler.shards set epoch = ${EPOCH}, listed_epoch = ${EPOCH}, owner = null`;
    db.store.forget(new Set(SHARDS));
  });

  const run = (shard: number) => db.tell(null, startOf(newFacts(shard)), claim('t1'));
  const listed = async () => {
    const rows = await db.sql<{ run_ids: RunId[] }[]>`select run_ids from scheduler.running`;
    return rows.flatMap((row) => row.run_ids).sort();
  };
  /** Commits more changes, since ended rows are removed many at a time. */
  const commitMore = async (store = db.store) => {
    let runs: (Run | null)[] = Array.from({ length: 32 }, () => null);
    const starts = runs.map((_, i) => startOf(newFacts(0, { orgId: `org_${i}` })));
    for (const command of [null, claim('t1'), succeed('t1', 1)]) {
      const batch = runs.map((one, i) => decide(one, command ?? (starts[i] as (typeof starts)[number]), 1_000));
      await store.commit(batch);
      runs = batch.map((change) => change.after);
    }
    await store.commit([decide(null, startOf(newFacts(0)), 1_000)]);
  };
  const runningOf = async (shards = OWNED) => (await db.store.runningOf(shards)).map((taken) => taken.runId).sort();
  const ids = (...runs: readonly Run[]) => runs.map(({ facts }) => facts.runId).sort();
  const unlisted = async () =>
    (
      await db.sql<{ shard: number }[]>`
      select shard from scheduler.shards where listed_epoch is distinct from epoch order by shard`
    ).map(({ shard }) => shard);

  test('are found by shard, with what a take-over needs', async () => {
    const [, second, third] = [await run(1), await run(2), await run(3)];
    await db.tell(null, startOf(newFacts(3)));
    const recorded = await db.tell(third, recordStep('t1', 1));
    assert.ok(recorded.status === 'running' && second.status === 'running');
    assert.deepEqual(await db.store.runningOf([{ shard: 3, epoch: EPOCH }]), [takenRun(recorded)]);
    assert.deepEqual(await runningOf(OWNED.slice(2)), ids(second, recorded));
  });

  test('are listed exactly as long as they run', async () => {
    const [finished, given, asked] = [await run(0), await run(0), await run(1)];
    assert.deepEqual(await listed(), ids(finished, given, asked));
    await db.tell(finished, succeed('t1', 1));
    const queued = await db.tell(given, giveBack('t1', 1));
    await db.tell(asked, ask('t1', 1, 'q_1', null));
    await commitMore();
    assert.deepEqual(await listed(), []);
    const again = await db.tell(queued, claim('t2'));
    // A change under a lost epoch lists nothing.
    const start = decide(null, startOf(newFacts(0)), 1_000);
    await db.store.commit([start]);
    await db.store.commit([{ ...decide(start.after, claim('t1'), 1_000), epoch: EPOCH + 1 }]);
    assert.deepEqual(await listed(), ids(again));
    assert.deepEqual(await runningOf(), ids(again));
  });

  test('share a row with those claimed in the same commit, removed with the last of them', async () => {
    const nowMs = await db.nowMs();
    const starts = Array.from({ length: 20 }, (_, i) => startOf(newFacts(1, { orgId: i < 2 ? 'org_b' : 'org_a' })));
    const begun = starts.map((command) => decide(null, command, nowMs));
    const claims = begun.map(({ after }) => decide(after, claim('t1'), nowMs));
    const ends = claims.map(({ after }) => decide(after, succeed('t1', 1), nowMs));
    for (const batch of [begun, claims]) await db.store.commit(batch);
    const sizes = async () => {
      const rows = await db.sql<{ org_id: OrgId; runs: number }[]>`
        select org_id, cardinality(run_ids) as runs from scheduler.running order by org_id, runs desc`;
      return rows.map(({ org_id: orgId, runs }) => `${orgId} ${runs}`);
    };
    assert.deepEqual(await sizes(), ['org_a 8', 'org_a 8', 'org_a 2', 'org_b 2']);
    assert.equal((await runningOf()).length, 20);
    await db.store.commit(ends.slice(1, 19));
    await commitMore();
    assert.deepEqual(await sizes(), ['org_a 2', 'org_b 2']);
    assert.deepEqual(await runningOf(), ids(...[0, 19].map((i) => (claims[i] as (typeof claims)[number]).after)));
    await db.store.commit([ends[0], ends[19]] as (typeof ends)[number][]);
    await commitMore();
    assert.deepEqual(await sizes(), []);
  });

  test('that a dead owner listed are adopted, and its ended rows are removed', async () => {
    const [first, second] = [await run(2), await run(2)];
    const next = db.successor();
    await db.tell(first, succeed('t1', 1));
    assert.deepEqual(await listed(), ids(first, second));
    const taken = await next.runningOf(OWNED);
    assert.deepEqual(
      taken.map(({ runId }) => runId),
      ids(second),
    );
    await next.commit([decide(second, succeed('t1', 1), 1_000)]);
    await commitMore(next);
    assert.deepEqual(await listed(), []);
  });

  test('claimed by a node of the previous release are listed by the next owner, and those it finished are not', async () => {
    const [theirs, ours, ended] = [await run(1), await run(1), await run(2)];
    await db.sql`delete from scheduler.running where run_ids = array[${theirs.facts.runId}]`;
    await db.sql`update scheduler.runs set status = 'cancelled', worker_session = null where run_id = ${ended.facts.runId}`;
    // Its take-over writes no listed epochs.
    await db.sql`update scheduler.shards set epoch = epoch + 1, owner = 'before' where shard in (1, 2)`;
    const taken = await new ShardLease({ sql: db.sql, nodeId: 'here' }).take(SHARDS, { alive: [], gone: ['before'] });
    assert.deepEqual(await unlisted(), [1, 2]);
    assert.deepEqual(await runningOf(taken), ids(theirs, ours));
    assert.deepEqual(await unlisted(), []);
    assert.deepEqual(await runningOf(taken), ids(theirs, ours));
  });

  test('a shard counts as listed through the take-overs and renewals of nodes that list, and only those', async () => {
    const lease = new ShardLease({ sql: db.sql, nodeId: 'here' });
    const taken = await lease.take(SHARDS, { alive: [], gone: [] });
    await lease.bump(taken);
    assert.deepEqual(await unlisted(), []);
    await db.sql`update scheduler.shards set epoch = epoch + 1 where shard = 1`;
    await lease.take(SHARDS, { alive: [], gone: [] });
    assert.deepEqual(await unlisted(), [1]);
  });

  test('a node that has lost a shard does not count it as listed', async () => {
    await db.sql`update scheduler.shards set listed_epoch = null, epoch = ${EPOCH + 1} where shard = 1`;
    const theirs = await run(0);
    assert.deepEqual(await runningOf(), ids(theirs));
    assert.deepEqual(await unlisted(), [1]);
  });

  test('listing them blocks no commit, and runs committed meanwhile are listed once they are read', async () => {
    await db.sql`update scheduler.shards set listed_epoch = null`;
    const first = await run(0);
    const [found, second] = await Promise.all([runningOf(), run(0)]);
    assert.ok(found.includes(first.facts.runId));
    assert.deepEqual(await runningOf(), ids(first, second));
  });

  test('no index of runs changes with their state: claims, records and ends are heap-only updates', async () => {
    const updates = async () => {
      await db.countWrites();
      const [row] = await db.sql<{ all: number; hot: number }[]>`
        select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_user_tables
        where relid = 'scheduler.runs'::regclass`;
      return row ?? { all: 0, hot: 0 };
    };
    const before = await updates();
    let runs: (Run | null)[] = Array.from({ length: RUNS }, () => null);
    const nowMs = await db.nowMs();
    const starts = runs.map((_, i) => startOf(newFacts(i % 4)));
    for (const command of [null, claim('t1'), recordStep('t1', 1), succeed('t1', 2)]) {
      const batch = runs.map((one, i) => decide(one, command ?? (starts[i] as (typeof starts)[number]), nowMs));
      assert.equal((await db.store.commit(batch)).done.size, RUNS);
      runs = batch.map((change) => change.after);
    }
    const after = await updates();
    assert.equal(after.all - before.all, 3 * RUNS);
    // A row that finds its page full moves to another page, more often while others read. With an index of the state, no update was heap-only.
    assert.ok(after.hot - before.hot > 0.2 * RUNS, `${after.hot - before.hot} of ${3 * RUNS} were heap-only`);
  });

  test('their old index is dropped when no node of the previous release has owned a shard for two looks', async () => {
    const there = async () => (await db.sql`select to_regclass('scheduler.runs_running') as oid`)[0]?.oid !== null;
    assert.equal(await there(), false);
    await db.sql`create index runs_running on scheduler.runs (shard) where status = 'running'`;
    let isMine = false;
    const index = new RetiredIndex({ sql: db.sql, isMine: () => isMine, logger: silentLogger });
    const look = async (change: Promise<unknown> = Promise.resolve()) => {
      await change;
      await index.look();
      return there();
    };
    for (let i = 0; i < 3; i++) assert.equal(await look(), true);
    isMine = true;
    assert.equal(await look(), true);
    assert.equal(await look(db.sql`update scheduler.shards set epoch = epoch + 1 where shard = 2`), true);
    assert.equal(await look(db.sql`update scheduler.shards set listed_epoch = epoch where shard = 2`), true);
    assert.equal(await look(), false);
    assert.equal(await look(), false);
  });
});
