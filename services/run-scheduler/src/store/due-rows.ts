// Reads deadlines in the order of their index, a bounded stretch at a time. The index holds the deadlines of all nodes;
// those of other nodes' shards are skipped here, so that no statement reads on until it finds enough.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { DueStretch } from './run-store.ts';

const STRETCH_MAX = 4_096;

export interface DueRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly question_id: QuestionId;
  readonly shard: number;
  readonly wake_at_ms: number;
  readonly bytes: number;
}

// Ordered by the columns themselves: ordered by a converted value, every due row would be sorted.
export const dueQuestionsQuery = `select run_id, org_id, question_id, shard, wake_at_ms, bytes from scheduler.deadlines
  where wake_at_ms < $1::bigint and (wake_at_ms, run_id) > ($2::bigint, $3)
  order by wake_at_ms, run_id limit ${STRETCH_MAX}`;

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
    end: rows.length === STRETCH_MAX && last !== undefined ? { wakeAtMs: last.wake_at_ms, runId: last.run_id } : null,
  };
}
