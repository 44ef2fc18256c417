// Reads queues and deadlines in the order of their index, a bounded stretch at a time. The rows belong to all nodes:
// those of other nodes' shards are skipped, and no statement reads on until it finds enough.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { DueStretch, QueueStretch } from './run-store.ts';

/** Rows of a queue that one statement looks at for a page. */
const STRETCH_MAX = 4_096;
/** The same bound for each head. */
const HEAD_STRETCH_MAX = 64;

export interface QueueRow {
  readonly run_id: RunId;
  readonly shard: number;
  readonly queued_at_ms: number;
  /** False: the last row looked at, which belongs to a shard that was not requested. */
  readonly ours: boolean;
}

// Ordered by the columns themselves: ordering by a converted value would sort the whole queue for every page. The rows
// are numbered as they come from the index, so nothing is read beyond the limit.
export const queuePageQuery = `select run_id, shard, queued_at_ms, ours from (
    select run_id, shard, queued_at_ms, shard = any($5::smallint[]) as ours,
      row_number() over (order by queued_at_ms, run_id) as place
    from (
      select run_id, shard, queued_at_ms from scheduler.queue
      where org_id = $1 and method = $2 and (queued_at_ms, run_id) > ($3::bigint, $4)
      order by queued_at_ms, run_id limit ${STRETCH_MAX}) stretch) numbered
  where ours or place = ${STRETCH_MAX} order by queued_at_ms, run_id limit $6`;

export const queueHeadsQuery = `select k.of::integer, head.run_id, head.shard, head.queued_at_ms, head.ours
  from unnest($1::text[], $2::text[]) with ordinality as k(org_id, method, of), lateral (
    select run_id, shard, queued_at_ms, ours from (
      select run_id, shard, queued_at_ms, shard = any($3::smallint[]) as ours,
        row_number() over (order by queued_at_ms, run_id) as place
      from (
        select q.run_id, q.shard, q.queued_at_ms from scheduler.queue q
        where q.org_id = k.org_id and q.method = k.method
        order by q.queued_at_ms, q.run_id limit ${HEAD_STRETCH_MAX}) stretch) numbered
    where ours or place = ${HEAD_STRETCH_MAX} order by queued_at_ms, run_id limit 1) head`;

export function stretchOf(rows: readonly QueueRow[], goesOn: boolean): QueueStretch {
  const last = rows.at(-1);
  return {
    entries: rows
      .filter((row) => row.ours)
      .map((row) => ({ runId: row.run_id, shard: row.shard, queuedAtMs: row.queued_at_ms })),
    end: goesOn && last !== undefined ? { queuedAtMs: last.queued_at_ms, runId: last.run_id } : null,
  };
}

const DUE_STRETCH_MAX = 4_096;

/**
 * Reads deadlines in the order of their index, a bounded stretch at a time. The index holds the deadlines of all nodes;
 * those of other nodes' shards are skipped, and no statement reads on until it finds enough.
 */
export interface DueRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly question_id: QuestionId;
  readonly shard: number;
  readonly wake_at_ms: number;
  readonly bytes: number;
}

// Ordered by the columns themselves: ordering by a converted value would sort every due row.
export const dueQuestionsQuery = `select run_id, org_id, question_id, shard, wake_at_ms, bytes from scheduler.deadlines
  where wake_at_ms < $1::bigint and (wake_at_ms, run_id) > ($2::bigint, $3)
  order by wake_at_ms, run_id limit ${DUE_STRETCH_MAX}`;

export function dueStretchOf(rows: readonly DueRow[], shards: ReadonlySet<number>): DueStretch {
  const last = rows.at(-1);
  return {
    questions: rows
      .filter((row) => shards.has(row.shard))
      .map((row) => ({
        runId: row.run_id,
        orgId: row.org_id,
        questionId: row.question_id,
        shard: row.shard,
        wakeAtMs: row.wake_at_ms,
        bytes: row.bytes,
      })),
    end:
      rows.length === DUE_STRETCH_MAX && last !== undefined ? { wakeAtMs: last.wake_at_ms, runId: last.run_id } : null,
  };
}
