// Converts a run to its row and back. The row types are private to this folder.
import type { Receipt } from '../run/receipt.ts';
import type { OpenQuestion, Run, RunEnding, RunError, RunningRun, StepSummary } from '../run/run.ts';
import { factsFrom, type RunRow, selected } from './run-columns.ts';
import type { TakenRun } from './run-store.ts';

export const rowColumns = selected(() => true);

export const takenColumns = 'run_id, org_id, shard, revision, token, worker_session, cancel_requested';

export function takenFromRow(row: RunRow): TakenRun {
  return {
    runId: row.run_id,
    orgId: row.org_id,
    shard: row.shard,
    revision: row.revision,
    token: row.token ?? '',
    workerSession: row.worker_session ?? '',
    cancelRequested: row.cancel_requested,
  };
}

export function takenRun({ facts, revision, token, workerSession, cancelRequested }: RunningRun): TakenRun {
  const { runId, orgId, shard } = facts;
  return { runId, orgId, shard, revision, token, workerSession, cancelRequested };
}

export function runFromRow(row: RunRow, steps: readonly StepSummary[], answers: readonly Receipt[] = []): Run {
  const base = {
    facts: factsFrom(row),
    revision: row.revision,
    stateSinceMs: row.state_since_ms,
    startedAtMs: row.started_at_ms,
    spans: { queuedMs: row.queued_ms, runningMs: row.running_ms, waitingMs: row.waiting_ms },
    attempts: row.attempts,
    attemptOpen: row.attempt_open,
    token: row.token,
    returnedToken: row.returned_token,
    lastSeq: row.last_seq,
    steps,
    answer: row.answer_json === null ? null : JSON.parse(row.answer_json),
    answers,
    folderId: row.folder_id,
    ending: row.ending_json === null ? null : (JSON.parse(row.ending_json) as RunEnding),
  };
  switch (row.status) {
    case 'queued':
    case 'cancelled':
      return { status: row.status, ...base };
    case 'sleeping':
      return { status: 'sleeping', wakeAtMs: row.wake_at_ms ?? 0, ...base };
    case 'running':
      return {
        status: 'running',
        workerSession: row.worker_session ?? '',
        cancelRequested: row.cancel_requested,
        ...base,
        token: row.token ?? '',
      };
    case 'waiting':
      return { status: 'waiting', question: JSON.parse(row.question_json ?? 'null') as OpenQuestion, ...base };
    case 'succeeded':
      return { status: 'succeeded', resultJson: row.result_json ?? 'null', ...base };
    case 'failed':
      return { status: 'failed', error: JSON.parse(row.error_json ?? 'null') as RunError, ...base };
  }
}
