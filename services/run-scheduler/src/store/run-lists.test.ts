import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newRunId, type OrgId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { explaining, type RowCounts } from '@methods/test/harness/plan-rows';
import { ANY_RUN } from './run-filter.ts';
import { RunLists, type RunPage, type RunPlace, type RunSelection } from './run-lists.ts';
import { TestStore } from './run-store.fixture.ts';
import { RunUsage } from './run-usage.ts';

const RUNS = 10_000;
const FIRST_MS = 1_700_000_000_000;

describe('lists of runs', () => {
  let db: TestStore;
  let reader: OrganizationReader;
  let lists: RunLists;

  before(async () => {
    db = await TestStore.open();
    reader = new OrganizationReader({ sql: db.sql, role: readerRole('scheduler') });
    lists = new RunLists({ reader, deadlineMs: 60_000, lookedAtMax: 1_000 });
    for (const orgId of ['org_a', 'org_b'] as const) await insert(orgId, RUNS);
    await db.sql`analyze scheduler.runs`;
  });
  after(() => db.close());

  // Two runs a millisecond; every hundredth failed, every thousandth of a rare method.
  async function insert(orgId: OrgId, count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_, i) => i);
    const ids = numbers.map((i) => newRunId(0, FIRST_MS + i));
    await db.sql`
      insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
        request_digest, key_id, answer_by, metadata_json, created_at_ms, max_attempts, needs, status, state_since_ms,
        queued_ms, running_ms, waiting_ms, attempts, attempt_open, last_seq, result_json, error_json)
      select id, ${orgId}, 0, 3, case when n % 1000 = 0 then 'wf_rare' else 'wf_usual' end, 'ver_1',
        ${JSON.stringify({ text: 'x'.repeat(500) })}, sha256(convert_to(id, 'UTF8')), '', 'key_a', 'team',
        jsonb_build_object('customer', 'c' || n % 10, 'n', n::text)::text, ${FIRST_MS}::bigint + n / 2, 3, '',
        case when n % 100 = 0 then 'failed' else 'succeeded' end, ${FIRST_MS}::bigint + n, 1, 2, 3, 1, true, 1,
        case when n % 100 = 0 then null else '"a result"' end,
        case when n % 100 = 0 then '{"code":"step_failed","kind":"http","message":"quotes content","step":"s"}' end
      from unnest(${ids}::text[], ${numbers}::int[]) as t(id, n)`;
  }

  // Answers each hundredth run of org_a; one of them remains unanswered.
  async function answer(): Promise<void> {
    await db.sql`
      insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
        closed_at_ms, state)
      select org_id, 'q_' || state || md5(run_id), run_id, method, version_id, 'ask', 'team', 'Go on?', ${FIRST_MS}::bigint,
        ${FIRST_MS}::bigint + 40, state
      from scheduler.runs, unnest(array['answered', 'expired']) state where org_id = 'org_a' and status = 'failed'`;
  }

  function page(selection: Partial<RunSelection>, from = lists): Promise<RunPage> {
    return from.page({
      orgId: 'org_a',
      after: null,
      limit: 200,
      ...ANY_RUN,
      createdAfterMs: null,
      createdBeforeMs: null,
      ...selection,
    });
  }

  test('a failed run whose cleanup still runs shows its error code without the message', async () => {
    const runId = newRunId(0, FIRST_MS);
    await db.sql`
      insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
        request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms,
        running_ms, waiting_ms, attempts, attempt_open, last_seq, ending_json)
      values (${runId}, 'org_c', 0, 3, 'wf_usual', 'ver_1', '{}', sha256('x'), '', 'key_a', 'team', ${FIRST_MS}, 3, '',
        'queued', ${FIRST_MS}, 1, 2, 3, 3, true, 1,
        '{"kind":"cleanup","byMs":1,"error":{"code":"no_answer","kind":"timeout","message":"content","step":"s"}}')`;
    const [run] = (await page({ orgId: 'org_c' })).runs;
    assert.deepEqual(run?.ending, { code: 'no_answer', kind: 'timeout', step: 's' });
  });

  async function pages(selection: Partial<RunSelection>): Promise<RunPage[]> {
    const all: RunPage[] = [];
    let next: RunPlace | null = null;
    do {
      const one: RunPage = await page({ ...selection, after: next });
      all.push(one);
      next = one.next;
    } while (next !== null && all.length < 200);
    return all;
  }

  test('all pages together hold every run of the organization once, newest first', async () => {
    const all = await pages({});
    const runs = all.flatMap(({ runs }) => runs.map(({ facts }) => facts));
    assert.equal(all.length, RUNS / 200);
    assert.equal(new Set(runs.map(({ runId }) => runId)).size, RUNS);
    const sorted = [...runs].sort((a, b) => b.createdAtMs - a.createdAtMs || (a.runId < b.runId ? 1 : -1));
    assert.deepEqual(
      runs.map(({ runId }) => runId),
      sorted.map(({ runId }) => runId),
    );
  });

  test('pages that read a bounded number of runs each find a rare status', async () => {
    const all = await pages({ statuses: ['failed'] });
    const runs = all.flatMap(({ runs }) => runs);
    assert.equal(runs.length, RUNS / 100);
    assert.ok(runs.every(({ status }) => status === 'failed'));
    assert.equal(all.length, RUNS / 1_000 + 1, 'a page for each thousand runs, and the end');
    assert.deepEqual(await page({ statuses: ['waiting'], createdBeforeMs: FIRST_MS + 100 }), {
      runs: [],
      next: null,
      searchedToMs: null,
    });
  });

  test('a filter that many runs match fills its pages', async () => {
    const { runs, next } = await page({ statuses: ['succeeded', 'waiting'], limit: 50 });
    assert.equal(runs.length, 50);
    assert.deepEqual(next, { createdAtMs: runs.at(-1)?.facts.createdAtMs, runId: runs.at(-1)?.facts.runId });
  });

  test('filters by method, metadata and time select together', async () => {
    const count = async (selection: Partial<RunSelection>) =>
      (await pages(selection)).flatMap(({ runs }) => runs).length;
    assert.equal(await count({ method: 'wf_rare' }), 10);
    assert.equal(await count({ metadata: { customer: 'c3' } }), 1_000);
    assert.equal(await count({ metadata: { customer: 'c3', n: '13' } }), 1);
    assert.equal(await count({ metadata: { customer: 'c3', n: '14' } }), 0);
    assert.equal(await count({ metadata: { absent: '' } }), 0);
    assert.equal(await count({ createdAfterMs: FIRST_MS + 4_899, createdBeforeMs: FIRST_MS + 4_910 }), 20);
    assert.equal(await count({ statuses: ['failed'], createdAfterMs: FIRST_MS + 4_900 }), 1);
  });

  test('filters by version, starter and text select together, and a text is found in every case and escape', async () => {
    const odd = newRunId(0, FIRST_MS);
    const starter = { personId: 'usr_ada', name: 'Ada' };
    await insert('org_text', 3);
    await db.sql`update scheduler.runs set run_id = ${odd}, version_id = 'ver_2', key_id = '',
      starter_json = ${JSON.stringify(starter)}, metadata_json = ${JSON.stringify({ note: 'Say "Hi"\\' })}
      where run_id = (select min(run_id) from scheduler.runs where org_id = 'org_text')`;
    const found = async (selection: Partial<RunSelection>) =>
      (await page({ orgId: 'org_text', ...selection })).runs.map(({ facts }) => facts.runId === odd);
    assert.deepEqual(await found({ versionId: 'ver_2' }), [true]);
    assert.deepEqual(await found({ startedBy: 'usr_ada' }), [true]);
    assert.deepEqual(await found({ startedBy: 'usr_a' }), []);
    assert.deepEqual(await found({ startedBy: 'key_a' }), [false, false]);
    for (const text of ['say "hi"\\', odd, odd.slice(-6).toUpperCase()])
      assert.deepEqual(await found({ text }), [true], text);
    assert.deepEqual(await found({ text: 'Quotes CONTENT' }), await found({ statuses: ['failed'] }));
    assert.deepEqual(await found({ text: '100%' }), []);
  });

  test('a page that looked at enough runs says how far back, and a full or last page does not', async () => {
    const { searchedToMs, next } = await page({ statuses: ['waiting'] });
    assert.equal(searchedToMs, next?.createdAtMs);
    assert.equal((await page({ statuses: ['succeeded'], limit: 10 })).searchedToMs, null);
    assert.equal((await page({ statuses: ['waiting'], createdBeforeMs: FIRST_MS + 10 })).searchedToMs, null);
  });

  test('a listed run carries of its content only the first line of its error, and none in device mode', async () => {
    const { runs } = await page({ statuses: ['failed'], limit: 1 });
    assert.deepEqual(runs[0]?.error, { code: 'step_failed', kind: 'http', step: 's', firstLine: 'quotes content' });
    await insert('org_line', 1);
    const message = `\n ${'😀'.repeat(400)}\nsecond line`;
    await db.sql`update scheduler.runs set error_json = ${JSON.stringify({ code: 'c', kind: 'k', message, step: 's' })}
      where org_id = 'org_line'`;
    assert.equal((await page({ orgId: 'org_line' })).runs[0]?.error?.firstLine, '😀'.repeat(300));
    await db.sql`update scheduler.runs set content_id = ${'0'.repeat(32)}, sealed_by = ${'0'.repeat(32)} where org_id = 'org_line'`;
    assert.equal((await page({ orgId: 'org_line' })).runs[0]?.error?.firstLine, '');
    assert.ok(!JSON.stringify(await page({ limit: 1 })).includes('a result'));
  });

  test('large metadata ends a page before its message grows too large, and nothing is lost', async () => {
    await insert('org_large', 5);
    await db.sql`update scheduler.runs set metadata_json = ${JSON.stringify({ k: 'x'.repeat(900_000) })}
      where org_id = 'org_large'`;
    const all = await pages({ orgId: 'org_large' });
    assert.deepEqual(
      all.map(({ runs }) => runs.length),
      [2, 2, 1],
    );
  });

  test('a page reads no more of the index of creation than it shows', async () => {
    const plan = await reader.read('org_a', async (sql) => {
      const rows = await sql<{ 'QUERY PLAN': string }[]>`
        explain (analyze, timing off, costs off) select run_id from scheduler.runs
        where org_id = 'org_a' and (created_at_ms, run_id) < (${FIRST_MS + 2_500}::bigint, 'run_0')
        order by created_at_ms desc, run_id desc limit 51`;
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    assert.match(plan, /Index (Only )?Scan Backward using runs_by_creation/);
    assert.match(plan, /Index Cond: .*org_id.*ROW\(created_at_ms, run_id\) </);
    assert.ok(!plan.includes('Sort'));
  });

  async function reads(selection: Partial<RunSelection>): Promise<RowCounts[]> {
    const counts: RowCounts[] = [];
    const explained = {
      read: (orgId, work) => reader.read(orgId, (sql) => work(explaining(sql, counts))),
    } as OrganizationReader;
    await page(
      { createdBeforeMs: FIRST_MS + 4_000, ...selection },
      new RunLists({ reader: explained, deadlineMs: 60_000, lookedAtMax: 1_000 }),
    );
    return counts;
  }

  test('the runs that repeat one are found by an index, also with a filter', async () => {
    const rerunOf = newRunId(0, FIRST_MS);
    await db.sql`update scheduler.runs set rerun_of = ${rerunOf} where metadata_json like '%"n": "10_"%'`;
    await db.sql`analyze scheduler.runs`;
    const { runs } = await page({ rerunOf });
    assert.equal(runs.length, 10);
    assert.ok(runs.every(({ facts }) => facts.rerunOf === rerunOf));
    assert.deepEqual((await page({ rerunOf, statuses: ['failed'] })).runs.length, 1);
    assert.deepEqual((await page({ rerunOf: newRunId(0) })).runs, []);
    for (const selection of [{ rerunOf }, { rerunOf, statuses: ['waiting'] as const }]) {
      for (const { read, blocks } of await reads(selection))
        assert.ok(read <= 10 && blocks < 100, `${read}, ${blocks}`);
    }
  });

  test('a page of ten thousand runs reads only what it shows or, with a filter, a bounded number', async () => {
    for (const { read, blocks } of await reads({}))
      assert.ok(read <= 201 && blocks < 600, `${read} rows, ${blocks} blocks`);
    for (const selection of [{ statuses: ['waiting'] as const }, { metadata: { customer: 'c3' } }]) {
      const [reach, rows, ...more] = await reads(selection);
      assert.deepEqual(more, []);
      for (const one of [reach, rows]) assert.ok(one && one.read <= 1_000 && one.blocks < 2_000, JSON.stringify(one));
    }
  });

  test('usage adds up over its pages to all runs, by method and day, and each page reads a bounded number', async () => {
    await answer();
    const usage = new RunUsage({ reader, deadlineMs: 60_000, lookedAtMax: 1_000 });
    const day = Math.floor(FIRST_MS / 86_400_000);
    const range = { orgId: 'org_a' as const, createdAfterMs: FIRST_MS - 1, createdBeforeMs: FIRST_MS + RUNS };
    const sums = new Map<string, number[]>();
    let after: RunPlace | null = null;
    let pages = 0;
    do {
      const { rows, next } = await usage.page({ ...range, method: '', after });
      for (const row of rows) {
        assert.deepEqual(
          [row.day, row.cancelled, row.unfinished, row.queued, row.running],
          [day, 0, 0, [1, 1], [2, 2]],
        );
        assert.deepEqual([row.answers, row.answeringMs], [row.failed, 40 * row.failed]);
        assert.deepEqual(row.answering, row.failed === 0 ? null : [40, 40]);
        const [ended = 0, failed = 0, waited = 0] = sums.get(row.method) ?? [];
        sums.set(row.method, [ended + row.succeeded + row.failed, failed + row.failed, waited + row.waitingMs]);
      }
      after = next;
      pages++;
    } while (after !== null);
    assert.deepEqual(sums.get('wf_rare'), [10, 10, 30]);
    assert.deepEqual(sums.get('wf_usual'), [RUNS - 10, 90, 3 * (RUNS - 10)]);
    assert.ok(pages >= 10, String(pages));
    const one = await usage.page({ ...range, method: 'wf_rare', after: null });
    assert.deepEqual(
      one.rows.map(({ method, failed }) => [method, failed]),
      [['wf_rare', 1]],
    );
  });
});
