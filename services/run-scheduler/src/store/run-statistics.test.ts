import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newRunId, type OrgId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { explaining, type RowCounts } from '@methods/test/harness/plan-rows';
import { ANY_RUN } from './run-filter.ts';
import { type CountRow, type CountSelection, RunStatistics } from './run-statistics.ts';
import { TestStore } from './run-store.fixture.ts';

const RUNS = 6_000;
const FIRST_MS = 1_700_000_000_000;

describe('counts of runs', () => {
  let db: TestStore;
  let reader: OrganizationReader;

  before(async () => {
    db = await TestStore.open();
    reader = new OrganizationReader({ sql: db.sql, role: readerRole('scheduler') });
    for (const orgId of ['org_a', 'org_b'] as const) await insert(orgId);
  });
  after(() => db.close());

  // A run each second, claimed after n % 7 s and run for n % 10 s; of ten, one waits, one failed and one sleeps.
  async function insert(orgId: OrgId): Promise<void> {
    const numbers = Array.from({ length: RUNS }, (_, i) => i);
    const ids = numbers.map((i) => newRunId(0, FIRST_MS + i * 1_000));
    await db.sql`
      insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
        request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, started_at_ms,
        queued_ms, running_ms, waiting_ms, attempts, attempt_open, last_seq, result_json, error_json, question_json, wake_at_ms)
      select id, ${orgId}, 0, 3, 'wf_' || n % 2, 'ver_1', '{}', sha256(convert_to(id, 'UTF8')), '', 'key_a', 'team',
        ${FIRST_MS}::bigint + n * 1000, 3, '', s, ${FIRST_MS}::bigint + n * 1000 + 500,
        ${FIRST_MS}::bigint + n * 1000 + n % 7 * 1000, n % 7 * 1000, n % 10 * 1000, 0, 1, true, 1,
        case s when 'succeeded' then '1' end,
        case s when 'failed' then '{"code":"step_failed","kind":"http","message":"no 1","step":"s"}' end,
        case s when 'waiting' then '{}' end, case s when 'sleeping' then 1 end
      from unnest(${ids}::text[], ${numbers}::int[]) as t(id, n), lateral (
        select case n % 10 when 1 then 'waiting' when 2 then 'failed' when 3 then 'sleeping' else 'succeeded' end as s) as of`;
  }

  const selection: CountSelection = {
    ...ANY_RUN,
    ...{ orgId: 'org_a', after: null, bucketMs: 600_000 },
    ...{ createdAfterMs: FIRST_MS - 1, createdBeforeMs: FIRST_MS + RUNS * 1_000 },
  };
  const statistics = (options = {}) => new RunStatistics({ reader, deadlineMs: 60_000, ...options });
  const statusesOf = ({ queued, running, waiting, succeeded, failed, cancelled }: CountRow) => [
    ...[queued, running, waiting],
    ...[succeeded, failed, cancelled],
  ];

  test('every run is in one bucket, in one method and in the total, by its status', async () => {
    const { rows, searchedToMs } = await statistics().count(selection);
    assert.equal(searchedToMs, null);
    const buckets = rows.filter(({ bucket }) => bucket !== null);
    assert.deepEqual(
      buckets.map(({ bucket }) => bucket).sort((a, b) => Number(a) - Number(b)),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    // 600 runs a bucket: a sleeping run is shown as queued.
    for (const bucket of buckets) assert.deepEqual(statusesOf(bucket), [60, 0, 60, 420, 60, 0]);
    const [total] = rows.filter(({ bucket, method }) => bucket === null && method === null);
    assert.deepEqual(total && statusesOf(total), [600, 0, 600, 4_200, 600, 0]);
    const methods = rows.filter(({ method }) => method !== null);
    assert.deepEqual(
      methods.map((row) => statusesOf(row).reduce((sum, count) => sum + count, 0)),
      [RUNS / 2, RUNS / 2],
    );
    assert.equal(total?.first_claim_max_ms, 6_000);
    assert.deepEqual(total?.running_times, [5_000, 9_000]);
    assert.equal(rows.length, 10 + 2 + 1);
  });

  test('a filter counts its own runs only', async () => {
    const { rows } = await statistics().count({ ...selection, method: 'wf_1', statuses: ['failed', 'succeeded'] });
    const [total] = rows.filter(({ bucket, method }) => bucket === null && method === null);
    assert.deepEqual(total && statusesOf(total), [0, 0, 0, 1_800, 0, 0]);
    assert.deepEqual((await statistics().count({ ...selection, orgId: 'org_none' })).rows.map(statusesOf), [
      [0, 0, 0, 0, 0, 0],
    ]);
  });

  test('a count of more runs than its bound counts the newest ones, and says from when', async () => {
    const { rows, searchedToMs } = await statistics({ countedMax: 1_000 }).count(selection);
    assert.equal(searchedToMs, FIRST_MS + (RUNS - 1_000) * 1_000);
    const [total] = rows.filter(({ bucket, method }) => bucket === null && method === null);
    assert.equal(total && statusesOf(total).reduce((sum, count) => sum + count, 0), 1_000);
  });

  test('the newest failed runs come with their errors, and a bound says how far back', async () => {
    const all = await statistics().failed(selection);
    assert.deepEqual([all.runs.length, all.searchedToMs], [600, null]);
    assert.deepEqual(all.runs[0]?.error, { code: 'step_failed', kind: 'http', message: 'no 1', step: 's' });
    assert.deepEqual([all.runs[0]?.method, all.runs[0]?.isSealed], ['wf_0', false]);
    const some = await statistics({ lookedAtMax: 100 }).failed(selection);
    assert.deepEqual([some.runs.length, some.searchedToMs], [10, FIRST_MS + (RUNS - 100) * 1_000]);
  });

  test('a count reads no more runs than its bound, however long the time asked for', async () => {
    const counts: RowCounts[] = [];
    const explained = {
      read: (orgId, work) => reader.read(orgId, (sql) => work(explaining(sql, counts))),
    } as OrganizationReader;
    const bounded = new RunStatistics({ reader: explained, deadlineMs: 60_000, countedMax: 500, lookedAtMax: 500 });
    await bounded.count(selection);
    await bounded.failed(selection);
    assert.equal(counts.length, 4);
    for (const { read } of counts) assert.ok(read <= 500, JSON.stringify(counts));
  });
});
