import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newRunId, type OrgId, type RunId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { AHEAD_MAX, COUNTED_MAX, QueueList } from './queue-list.ts';
import { RunParts, type ValueAddress } from './run-parts.ts';
import { TestStore } from './run-store.fixture.ts';

const QUEUED = 3_000;
const TEXT = JSON.stringify({ text: 'ä€😀'.repeat(1_000) });

describe('parts of a run', () => {
  let db: TestStore;
  let reader: OrganizationReader;
  let parts: RunParts;
  let queues: QueueList;
  let runId: RunId;

  before(async () => {
    db = await TestStore.open();
    reader = new OrganizationReader({ sql: db.sql, role: readerRole('scheduler') });
    parts = new RunParts({ reader, deadlineMs: 60_000 });
    queues = new QueueList({ reader, deadlineMs: 60_000 });
    runId = newRunId(0);
    await insertRun('org_a', runId);
    await db.sql`
      insert into scheduler.steps (run_id, org_id, path, seq, status, view_json, out_json, out_withheld, log_tail)
      values (${runId}, 'org_a', 'one', 1, 'succeeded', '{}', ${TEXT}, false, 'a log'),
        (${runId}, 'org_a', 'each[3]', 2, 'succeeded', '{}', null, true, null)`;
    await db.sql`
      insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
        closed_at_ms, state)
      select 'org_a', 'q_' || n, ${runId}, 'wf_1', 'ver_1', 'ask', 'team', 'Go on?', n, n + 1,
        case n % 2 when 0 then 'answered' else 'expired' end
      from generate_series(1, 5) n`;
    await db.sql`
      insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
      select 'run_' || lpad(n::text, 26, '0'), 'org_a', m, n / 2, 0
      from generate_series(0, ${QUEUED - 1}) n, unnest(array['wf_1', 'wf_1+python', 'wf_2@key_9.ff', 'wf_3']) m
      where m = 'wf_1' or n % 1000 = 0 on conflict do nothing`;
    await db.sql`
      insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
      values ('run_x', 'org_a', 'wf_1+python', 7, 0), ('run_y', 'org_b', 'wf_1', 1, 0)`;
    await db.sql`analyze`;
  });
  after(() => db.close());

  async function insertRun(orgId: OrgId, id: RunId): Promise<void> {
    await db.sql`
      insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
        request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms,
        running_ms, waiting_ms, attempts, attempt_open, last_seq)
      values (${id}, ${orgId}, 0, 3, 'wf_1', 'ver_1', ${TEXT}, sha256(${Buffer.from(id)}), '', 'key_a', 'team', 1, 3, '',
        'queued', 1, 1, 2, 3, 1, true, 1)`;
  }

  const value = (more: Partial<ValueAddress>) =>
    parts.value({ orgId: 'org_a', runId, of: 'inputs', step: '', offset: 0, bytes: 1_000_000, ...more });

  test('the sizes of steps are those of their stored values, without those of other runs', async () => {
    const sizes = await parts.sizes('org_a', runId, ['one', 'each[3]', 'unknown']);
    assert.deepEqual(
      sizes.toSorted((a, b) => b.outBytes - a.outBytes),
      [
        { path: 'one', outBytes: Buffer.byteLength(TEXT), outWithheld: false, logBytes: 5 },
        { path: 'each[3]', outBytes: 0, outWithheld: true, logBytes: 0 },
      ],
    );
    assert.equal((await parts.sizes('org_b', runId, ['one'])).length, 0);
  });

  test('a value is read in parts that add up to it', async () => {
    for (const asked of [{}, { of: 'output', step: 'one' }] as const) {
      const bytes = Buffer.from(TEXT);
      const read: Uint8Array[] = [];
      for (let offset = 0; offset < bytes.length; offset += 1_000) {
        const found = await value({ ...asked, offset, bytes: 1_000 });
        assert.equal(found?.total, bytes.length);
        if (found) read.push(found.part);
      }
      assert.equal(Buffer.concat(read).toString(), TEXT);
    }
    assert.equal(Buffer.from((await value({ of: 'log', step: 'one' }))?.part ?? []).toString(), 'a log');
  });

  test('what is not there is empty, withheld, or unknown', async () => {
    assert.deepEqual(await value({ of: 'result' }), {
      total: 0,
      part: new Uint8Array(),
      withheld: false,
      sealed: false,
    });
    assert.equal((await value({ of: 'output', step: 'each[3]' }))?.withheld, true);
    assert.equal((await value({ offset: 1_000_000_000 }))?.part.length, 0);
    assert.equal(await value({ of: 'output', step: 'unknown' }), null);
    assert.equal(await value({ orgId: 'org_b' }), null);
    assert.equal(await value({ orgId: 'org_b', of: 'output', step: 'one' }), null);
  });

  test('the questions of a run are listed newest first, a page at a time', async () => {
    const ids = async (after: 'q_4' | '', limit: number) =>
      (await parts.questions('org_a', runId, after, limit)).map(({ question_id: id, state }) => [id, state]);
    assert.deepEqual(await ids('', 2), [
      ['q_5', 'expired'],
      ['q_4', 'answered'],
    ]);
    assert.deepEqual(await ids('q_4', 10), [
      ['q_3', 'expired'],
      ['q_2', 'answered'],
      ['q_1', 'expired'],
    ]);
    assert.equal((await parts.questions('org_b', runId, '', 10)).length, 0);
  });

  test('each queue is listed once, with a bounded count and its oldest run', async () => {
    const all = await queues.all('org_a');
    assert.deepEqual(
      all.map(({ method }) => method),
      ['wf_1', 'wf_1+python'],
    );
    assert.deepEqual(all[0], { method: 'wf_1', waiting: COUNTED_MAX + 1, oldestQueuedAtMs: 0 });
    assert.deepEqual(all[1], { method: 'wf_1+python', waiting: 1, oldestQueuedAtMs: 7 });
    assert.deepEqual(
      (await queues.all('org_b')).map(({ waiting }) => waiting),
      [1],
    );
    assert.equal((await queues.all('org_none')).length, 0);
  });

  test('the place of a run counts those queued before it, up to a bound', async () => {
    const place = (n: number) => queues.place('org_a', `run_${String(n).padStart(26, '0')}`);
    assert.deepEqual(await place(0), { method: 'wf_1', queuedAtMs: 0, ahead: 0 });
    assert.deepEqual(await place(11), { method: 'wf_1', queuedAtMs: 5, ahead: 11 });
    assert.equal((await place(QUEUED - 1))?.ahead, AHEAD_MAX + 1);
    assert.equal(await queues.place('org_b', `run_${'0'.repeat(26)}`), null);
  });
});
