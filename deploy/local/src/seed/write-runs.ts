// Writes made-up runs into the tables of a local stack, with everything that a commit of the run-scheduler would write
// beside them: their steps, queue places, deadlines, questions, groups of running runs and counts. A statement writes all
// rows of some runs, so that a seed that is interrupted leaves whole runs.
import { newRunId, type OrgId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import type { RunRow } from './made-up-runs.ts';

const RUNS_A_STATEMENT = 1_000;
const STATEMENT_TIMEOUT_MS = 120_000;

export function openSeedDatabase(url: string): Sql {
  return openPool({ url, applicationName: 'seed', max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
}

/** Calls `written` with the number of runs so far. */
export async function writeRuns(
  sql: Sql,
  orgId: OrgId,
  runs: Iterable<RunRow>,
  written: (count: number) => void,
): Promise<void> {
  let batch: RunRow[] = [];
  let count = 0;
  const write = async () => {
    if (batch.length === 0) return;
    await sql.begin((inner) => writeBatch(inner as unknown as Sql, orgId, batch));
    count += batch.length;
    batch = [];
    written(count);
  };
  for (const run of runs) {
    batch.push(run);
    if (batch.length === RUNS_A_STATEMENT) await write();
  }
  await write();
  await sql`analyze`;
}

async function writeBatch(sql: Sql, orgId: OrgId, batch: readonly RunRow[]): Promise<void> {
  const runs = batch.map(({ steps: _, ...run }) => run);
  const steps = batch.flatMap(({ run_id, steps }) => steps.map((step) => ({ run_id, ...step })));
  await sql`
    insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
      request_digest, key_id, starter_json, answer_by, metadata_json, created_at_ms, max_attempts, needs, status, state_since_ms,
      started_at_ms, queued_ms, running_ms, waiting_ms, attempts, attempt_open, token, worker_session, last_seq, question_json,
      wake_at_ms, result_json, error_json)
    select run_id, ${orgId}, shard, 3, method, version_id, inputs_json, sha256(convert_to(run_id, 'UTF8')), '', key_id, starter_json,
      'team', metadata_json, created_at_ms, 3, '', status, state_since_ms, started_at_ms, queued_ms, running_ms, waiting_ms,
      attempts, attempts > 0, case status when 'running' then 'seeded' end, case status when 'running' then 'seeded.1' end, 3,
      question_json, wake_at_ms, result_json, error_json
    from json_to_recordset(${JSON.stringify(runs)}::text::json) as t(run_id text, shard smallint, method text, version_id text,
      inputs_json text, key_id text, starter_json text, metadata_json text, created_at_ms bigint, status text,
      state_since_ms bigint, started_at_ms bigint, queued_ms bigint, running_ms bigint, waiting_ms bigint, attempts smallint,
      question_json text, wake_at_ms bigint, result_json text, error_json text)`;
  await sql`
    insert into scheduler.steps (run_id, org_id, path, seq, status, view_json, out_json, log_tail)
    select run_id, ${orgId}, path, seq, status, view_json, out_json, log_tail
    from json_to_recordset(${JSON.stringify(steps)}::text::json) as t(run_id text, path text, seq integer, status text, view_json text,
      out_json text, log_tail text)`;
  await writeOpenRuns(sql, orgId, batch);
}

async function writeOpenRuns(sql: Sql, orgId: OrgId, batch: readonly RunRow[]): Promise<void> {
  const open = batch
    .filter(({ status }) => ['queued', 'running', 'sleeping', 'waiting'].includes(status))
    .map(({ steps: _, ...run }) => ({ ...run, group_id: newRunId(run.shard) }));
  if (open.length === 0) return;
  const json = JSON.stringify(open);
  await sql`
    insert into scheduler.queue (run_id, org_id, method, queued_at_ms, shard)
    select run_id, ${orgId}, method, created_at_ms, shard
    from json_to_recordset(${json}::text::json) as t(run_id text, method text, created_at_ms bigint, shard smallint, status text)
    where status = 'queued'`;
  await sql`
    insert into scheduler.deadlines (run_id, org_id, question_id, wake_at_ms, shard, bytes)
    select run_id, ${orgId}, coalesce(question_id, ''), coalesce(wake_at_ms, due_at_ms), shard, 1000
    from json_to_recordset(${json}::text::json) as t(run_id text, question_id text, wake_at_ms bigint, due_at_ms bigint, shard smallint)
    where wake_at_ms is not null or due_at_ms is not null`;
  await sql`
    insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
      due_at_ms, state)
    select ${orgId}, question_id, run_id, method, version_id, 'approval', 'team', prompt, state_since_ms, due_at_ms, 'open'
    from json_to_recordset(${json}::text::json) as t(question_id text, run_id text, method text, version_id text, prompt text,
      state_since_ms bigint, due_at_ms bigint)
    where question_id is not null`;
  await sql`
    insert into scheduler.running (group_id, org_id, run_ids)
    select group_id, ${orgId}, array[run_id]
    from json_to_recordset(${json}::text::json) as t(group_id text, run_id text, status text) where status = 'running'`;
  await sql`
    insert into scheduler.unfinished as u (org_id, shard, runs)
    select ${orgId}, shard, count(*) from json_to_recordset(${json}::text::json) as t(shard smallint) group by shard
    on conflict (org_id, shard) do update set runs = u.runs + excluded.runs`;
}
