import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { OrgId, RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import { ask, claim } from '../run/run.fixture.ts';
import { type DueQuery, type Overdue, PostgresOutbox, UNCONFIRMED_MS } from './outbox.ts';
import { newFacts, startOf, TestStore } from './run-store.fixture.ts';

describe('the outbox', () => {
  let db: TestStore;
  let outbox: PostgresOutbox;

  before(async () => {
    db = await TestStore.open();
    outbox = new PostgresOutbox({ sql: db.outbox, deadlineMs: 60_000 });
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.sql`delete from scheduler.outbox`;
  });

  const query = (more: Partial<DueQuery> = {}): DueQuery => {
    return { shards: [0, 1], nowMs: 1_000, afterOrgId: '', orgsMax: 10, runsMax: 10, without: [], ...more };
  };

  /** Stores one event for each run, due one after the other from the time 1. */
  async function events(orgId: OrgId, count: number, shard = 0): Promise<void> {
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms)
      select ${orgId} || '/' || n || '.1', ${orgId}, ${orgId} || '/' || n, ${shard}, 1, '\\x00', n, n
      from generate_series(1, ${count}::integer) n`;
  }

  // Must precede the other tests, since a connection may count their reads later.
  test('a page of a backlog of any length reads no more than it returns', async () => {
    for (let org = 0; org < 10; org++) await events(`org_${org}`, 3_000);
    await db.sql`select pg_stat_force_next_flush()`;
    const reads = async () => {
      await db.outbox`select pg_stat_force_next_flush()`;
      const [row] = await db.sql<{ rows: number }[]>`select (sum(idx_tup_read) + (select seq_tup_read from
        pg_stat_user_tables where relname = 'outbox' and schemaname = 'scheduler'))::float8 as rows
        from pg_stat_user_indexes where relname = 'outbox' and schemaname = 'scheduler'`;
      return row?.rows ?? 0;
    };
    const before = await reads();
    const { runs } = await outbox.dueRuns(query({ nowMs: 1_000_000 }));
    assert.equal(runs.length, 100);
    const read = (await reads()) - before;
    assert.ok(read > 0 && read <= 2 * runs.length, `${read} rows read`);
  });

  test("an event's row has the time of its next try, and keeps its body", async () => {
    const run = await db.tell(null, startOf(newFacts(0)), claim('t1'), ask('t1', 1, 'q_1'));
    const nowMs = run.stateSinceMs;
    assert.deepEqual((await outbox.dueRuns(query({ nowMs: nowMs + UNCONFIRMED_MS - 1 }))).runs, []);
    const { runs } = await outbox.dueRuns(query({ nowMs: nowMs + UNCONFIRMED_MS }));
    assert.deepEqual(runs, [{ orgId: 'org_a', runId: run.facts.runId }]);
    const entries = await outbox.entriesOf(runs, nowMs, { perRunMax: 10, entriesMax: 10 });
    assert.deepEqual(
      entries.map(({ seq, bytes, createdAtMs }) => ({ seq, bytes, createdAtMs })),
      [{ seq: run.revision, bytes: 3, createdAtMs: nowMs }],
    );
    const [entry] = entries;
    assert.deepEqual([...((await outbox.bodies(entries)).get(entry?.outboxId ?? '') ?? [])], [0, 1, 255]);
    await outbox.remove([entry?.outboxId ?? '']);
    assert.equal((await outbox.bodies(entries)).size, 0);
  });

  test('each organization gets a share, oldest first, and a round covers all of them', async () => {
    await events('org_a', 5);
    await events('org_b', 2);
    await events('org_c', 2, 7);
    await events('org_d', 1);
    const first = await outbox.dueRuns(query({ orgsMax: 2, runsMax: 2 }));
    assert.deepEqual(
      first.runs.map((run) => run.runId),
      ['org_a/1', 'org_a/2', 'org_b/1', 'org_b/2'],
    );
    assert.equal(first.lastOrgId, 'org_b');
    const second = await outbox.dueRuns(query({ orgsMax: 3, afterOrgId: 'org_b' }));
    assert.deepEqual(second, { runs: [{ orgId: 'org_d', runId: 'org_d/1' }], orgs: 2, lastOrgId: null });
    const without = await outbox.dueRuns(query({ without: ['org_a', 'org_b'] }));
    assert.deepEqual(without.runs.length, 1);
  });

  test('sends the events of a run that the bus never took together with the due ones', async () => {
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms, sent)
      select 'r.' || n, 'org_a', 'run_r', 0, n, '\\x00', 1, case when n = 3 then 1 else 5000 end, n = 1
      from generate_series(1, 5) n`;
    const of = async (perRunMax: number) => {
      const entries = await outbox.entriesOf([{ orgId: 'org_a', runId: 'run_r' }], 1_000, {
        perRunMax,
        entriesMax: 100,
      });
      return entries.map(({ seq }) => seq);
    };
    assert.deepEqual(
      [await of(10), await of(2)],
      [
        [2, 3, 4, 5],
        [2, 3],
      ],
    );
    await outbox.postpone([{ orgId: 'org_a', runId: 'run_r', sendAtMs: 2_000 }]);
    assert.deepEqual((await outbox.dueRuns(query())).runs, []);
    const overdue = { shards: [{ shard: 0, afterMs: 0 }], beforeMs: 1_000, sentToo: false };
    const due = async () => (await db.sql`select from scheduler.outbox where send_at_ms <= 1000`).length;
    await outbox.makeDue(overdue, 1_000, 100);
    assert.equal(await due(), 4);
    await outbox.makeDue({ ...overdue, sentToo: true }, 1_000, 100);
    assert.equal(await due(), 5);
  });

  test('events that are already due are read once, for any number of reads that make the rest due', async () => {
    // Two events at each time, the later half of them not due; one event in another shard.
    await db.sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms)
      select n || '.1', 'org_a', n, 0, 1, '\\x00', (n + 1) / 2, case when n > 50 then 9000 else 1 end
      from generate_series(1, 100) n`;
    await events('org_b', 1, 1);
    const shards = [0, 1, 2].map((shard) => ({ shard, afterMs: 0 }));
    let left: Overdue | null = { shards, beforeMs: 40, sentToo: false };
    const looks: (readonly object[])[] = [];
    while (left !== null) {
      looks.push(left.shards);
      left = await outbox.makeDue(left, 100, 45);
    }
    assert.deepEqual(looks, [shards, [{ shard: 0, afterMs: 8 }], [{ shard: 0, afterMs: 31 }]]);
    const late = await db.sql<{ at: number }[]>`select distinct created_at_ms::float8 as at from scheduler.outbox
      where send_at_ms = 9000 order by 1`;
    assert.deepEqual([late[0]?.at, late.length], [41, 10]);
  });

  test('the commit of a removal does not wait for the disk', async () => {
    await events('org_a', 1);
    const setting = async (sql: Sql) => (await sql.unsafe('show synchronous_commit'))[0]?.synchronous_commit;
    const usual = await setting(db.outbox);
    assert.notEqual(usual, 'off');
    await db.sql.begin(async (transaction) => {
      const sql = transaction as unknown as Sql;
      await new PostgresOutbox({ sql, deadlineMs: 60_000 }).remove(['org_a/1.1']);
      assert.equal(await setting(sql), 'off');
    });
    assert.equal(await setting(db.outbox), usual);
  });

  test('removes rows while other statements change them, each in its own order', async () => {
    for (const statement of ['sent', 'postpone', 'makeDue', 'sent', 'postpone', 'makeDue']) {
      await events('org_a', 1_000);
      const ids = Array.from({ length: 1_000 }, (_, n) => `org_a/${1_000 - n}.1` as const);
      const rows = ids.map((outboxId) => ({
        outboxId,
        runId: outboxId.slice(0, -2) as RunId,
        orgId: 'org_a' as const,
        sendAtMs: 2_000,
      }));
      const change = async () => {
        if (statement === 'sent') await outbox.sent(rows);
        else if (statement === 'postpone') await outbox.postpone(rows);
        else await outbox.makeDue({ shards: [{ shard: 0, afterMs: 0 }], beforeMs: 1_000, sentToo: true }, 0, 5_000);
      };
      await Promise.all([change(), outbox.remove(ids)]);
      const [left] = await db.sql<{ count: number }[]>`select count(*)::integer as count from scheduler.outbox`;
      assert.equal(left?.count, 0, statement);
    }
  });
});
