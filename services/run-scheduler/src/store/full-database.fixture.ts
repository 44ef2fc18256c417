// Fills a database with runs as in a large installation: 50 organizations, one of which has most of the rows.
import type { RunId } from '@methods/base/ids';
import { migrate } from '@methods/postgres/migrate';
import type { Sql } from '@methods/postgres/pool';
import { fillQuestions } from './open-questions.fixture.ts';

export const SHARDS = 64;
/** What an organization may have at most. */
const FILES_MAX = 10_000;

/** The organization that has most. */
export const LARGE_ORG = 'org_1' as const;
export const LARGE_METHOD = 'wf_1' as const;

export function runIdOf(shard: number, n: number): RunId {
  return `run_${ALPHABET[shard >> 5]}${ALPHABET[shard & 31]}${String(n).padStart(24, '0')}`;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Inserts `queued` runs, a tenth as many waiting, a fifth as many finished or with a question, and a hundredth running.
 */
export async function fillScheduler(url: string, sql: Sql, queued: number): Promise<void> {
  await migrate(url, { schema: 'scheduler', folder: new URL('../../migrations/', import.meta.url) });
  // Leaves it as the previous release does: running runs have an index, and no rows of their own.
  await sql`create index runs_running on scheduler.runs (shard) where status = 'running'`;
  await sql`insert into scheduler.shards (shard, epoch, owner, released)
    select n, 1, 'node_a', false from generate_series(0, ${SHARDS - 1}) n`;
  const [waiting, finished, running] = [queued / 10, queued / 5, queued / 100];
  const all = queued + waiting + finished + running;
  const nowMs = Date.now();
  // Shards in turn, so that a run's number determines its rows.
  await sql.unsafe(`
    create function pg_temp.shard_of(n bigint) returns smallint language sql immutable as 'select (n % ${SHARDS})::smallint';
    create function pg_temp.run_of(n bigint) returns text language sql immutable as $$
      select 'run_' || substr('${ALPHABET}', (n % ${SHARDS} / 32)::int + 1, 1)
        || substr('${ALPHABET}', (n % ${SHARDS} % 32)::int + 1, 1) || lpad(n::text, 24, '0') $$;
    create function pg_temp.org_of(n bigint) returns text language sql immutable as $$
      select 'org_' || case when n % 5 = 0 then n / 5 % 49 + 2 else 1 end $$;
    create function pg_temp.status_of(n bigint) returns text language sql immutable as $$
      select case when n <= ${queued} then 'queued' when n <= ${queued + waiting} then 'waiting'
        when n <= ${queued + waiting + running} then 'running' else 'succeeded' end $$;`);
  await sql.unsafe(`
    insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
      request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms, running_ms,
      waiting_ms, attempts, attempt_open, last_seq, metadata_json, token, worker_session, question_json, folder_id,
      result_json, answer_json)
    select pg_temp.run_of(n), pg_temp.org_of(n), pg_temp.shard_of(n), 1, 'wf_' || n % 7, 'ver_a', '{}',
      decode(lpad(to_hex(n), 64, '0'), 'hex'), '', 'key_a', 'team', ${nowMs} - 9000000 + n, 3, '', s, ${nowMs} - 9000000, 1, 1, 1,
      case s when 'queued' then 0 else 1 end, true, case s when 'queued' then 0 else 2 end, '{"n":"' || n % 100 || '"}',
      case s when 'running' then 't' || n end, case s when 'running' then 'w.1' end,
      case s when 'waiting' then '{}' end, case s when 'queued' then null else 'fld_' || n end,
      case s when 'succeeded' then '1' end, case s when 'succeeded' then '{}' end
    from (select n, pg_temp.status_of(n) as s from generate_series(1, ${all}) n) t;
    insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
    select run_id, org_id, method, created_at_ms, shard from scheduler.runs where status = 'queued';
    insert into scheduler.deadlines (run_id, org_id, question_id, wake_at_ms, shard)
    select run_id, org_id, 'q_' || run_id, ${nowMs} - 1000, shard from scheduler.runs where status = 'waiting';
    insert into scheduler.steps (run_id, org_id, path, seq, status, view_json, out_json)
    select run_id, org_id, 'step_' || k, k, 'succeeded', '{}', '1' from scheduler.runs, generate_series(1, 2) k
    where status <> 'queued';
    insert into scheduler.questions (run_id, org_id, question_id, method, version_id, step, answer_by, prompt, asked_at_ms,
      due_at_ms, state, closed_at_ms, question_json, receipt_json, answer_json, unrecorded_at_ms)
    select run_id, org_id, 'q_' || k || run_id, method, version_id, 'step_' || k, answer_by, 'Sure?', created_at_ms,
      created_at_ms, case status when 'waiting' then 'open' else 'answered' end,
      case status when 'succeeded' then created_at_ms end, case status when 'succeeded' then '{}' end,
      case status when 'succeeded' then '{"comment":"","answerJson":"","prompt":""}' end, case status when 'succeeded' then '{}' end,
      case when k = 1 and status = 'succeeded' and created_at_ms % 500 = 0 then created_at_ms end
    from scheduler.runs, generate_series(1, 2) k
    where status = 'succeeded' or status = 'waiting' and k = 1;
    insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms, sent)
    select run_id || '.5', org_id, run_id, shard, 5, '\\x00', created_at_ms, ${nowMs} - 30000, true
    from scheduler.runs where status = 'waiting';
    insert into scheduler.run_folders (folder_id, org_id, run_id, bytes_total, created_at_ms)
    select folder_id, org_id, run_id, 1, ${nowMs} - 2 * 86400000 from scheduler.runs where folder_id is not null;
    insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk)
    select folder_id, org_id, 0, 'x' from scheduler.run_folders;
    insert into scheduler.files (file_id, org_id, owner, name, media_type, bytes, sha256, expires_at_ms, look_at_ms)
    select 'file_' || n, pg_temp.org_of(n), 'key_a', 'a', 'a/b', 1, 'x', at, at
    from generate_series(1, ${Math.min(queued / 5, FILES_MAX)}) n, lateral (select ${nowMs} + case n % 2 when 0 then -1 else 86400000 end as at) t;
    insert into scheduler.file_chunks (file_id, org_id, position, chunk) select file_id, org_id, 0, 'x' from scheduler.files;
    insert into scheduler.run_files (run_id, org_id, file_id, named_at_ms)
    select pg_temp.run_of(n), pg_temp.org_of(n), 'file_' || n, ${nowMs} - 9000000 from generate_series(1, ${Math.min(queued / 5, FILES_MAX)}) n;
    insert into scheduler.file_shares (org_id, bytes, files)
    select org_id, sum(bytes), count(*) from scheduler.files group by org_id;
    insert into scheduler.unfinished (org_id, shard, runs)
    select org_id, shard, count(*) from scheduler.runs where status <> 'succeeded' group by 1, 2;`);
  await fillQuestions(sql, LARGE_ORG, queued / 5);
}
