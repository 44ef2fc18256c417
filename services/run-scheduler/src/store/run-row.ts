// Converts a run to its row and back. The row types are private to this folder.
import type { FolderId, KeyId, OrgId, ProductionId, RunId, VersionId } from '@methods/base/ids';
import type { OpenQuestion, Run, RunEnding, RunError, RunFacts, RunningRun, StepSummary } from '../run/run.ts';
import type { TakenRun } from './run-store.ts';

export interface RunRow {
  readonly run_id: RunId;
  readonly org_id: OrgId;
  readonly shard: number;
  readonly revision: number;
  readonly method: ProductionId;
  readonly version_id: VersionId;
  readonly inputs_json: string;
  readonly idempotency_hash: Uint8Array;
  readonly request_digest: Uint8Array;
  readonly webhook_url: string | null;
  readonly key_id: KeyId;
  readonly answer_by: 'application' | 'team';
  readonly metadata_json: string | null;
  readonly created_at_ms: number;
  readonly max_attempts: number;
  readonly needs: string;
  readonly cleans_up: boolean;
  readonly status: Run['status'];
  readonly state_since_ms: number;
  readonly started_at_ms: number | null;
  readonly queued_ms: number;
  readonly running_ms: number;
  readonly waiting_ms: number;
  readonly attempts: number;
  readonly attempt_open: boolean;
  readonly token: string | null;
  readonly returned_token: string | null;
  readonly worker_session: string | null;
  readonly last_seq: number;
  readonly cancel_requested: boolean;
  readonly question_json: string | null;
  readonly answer_json: string | null;
  readonly wake_at_ms: number | null;
  readonly folder_id: FolderId | null;
  readonly result_json: string | null;
  readonly error_json: string | null;
  readonly ending_json: string | null;
}

export const runColumns =
  'run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash, request_digest, webhook_url, key_id, ' +
  'answer_by, metadata_json, created_at_ms::float8, max_attempts, needs, cleans_up, status, state_since_ms::float8, started_at_ms::float8, ' +
  'queued_ms::float8, running_ms::float8, waiting_ms::float8, attempts, attempt_open, token, returned_token, worker_session, last_seq, ' +
  'cancel_requested, question_json, answer_json, wake_at_ms::float8, folder_id, result_json, error_json, ending_json';

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

export function runFromRow(row: RunRow, steps: readonly StepSummary[]): Run {
  const base = {
    facts: factsFromRow(row),
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
    folderId: row.folder_id,
    ending: row.ending_json === null ? null : (JSON.parse(row.ending_json) as RunEnding),
  };
  switch (row.status) {
    case 'queued':
    case 'cancelled':
      return { ...base, status: row.status };
    case 'sleeping':
      return { ...base, status: 'sleeping', wakeAtMs: row.wake_at_ms ?? 0 };
    case 'running':
      return {
        ...base,
        status: 'running',
        token: row.token ?? '',
        workerSession: row.worker_session ?? '',
        cancelRequested: row.cancel_requested,
      };
    case 'waiting':
      return { ...base, status: 'waiting', question: JSON.parse(row.question_json ?? 'null') as OpenQuestion };
    case 'succeeded':
      return { ...base, status: 'succeeded', resultJson: row.result_json ?? 'null' };
    case 'failed':
      return { ...base, status: 'failed', error: JSON.parse(row.error_json ?? 'null') as RunError };
  }
}

function factsFromRow(row: RunRow): RunFacts {
  return {
    runId: row.run_id,
    orgId: row.org_id,
    shard: row.shard,
    method: row.method,
    versionId: row.version_id,
    inputsJson: row.inputs_json,
    idempotencyHash: row.idempotency_hash,
    requestDigest: row.request_digest,
    webhookUrl: row.webhook_url,
    keyId: row.key_id,
    answerBy: row.answer_by,
    metadata: row.metadata_json === null ? {} : JSON.parse(row.metadata_json),
    createdAtMs: row.created_at_ms,
    maxAttempts: row.max_attempts,
    needs: row.needs,
    cleansUp: row.cleans_up,
  };
}
