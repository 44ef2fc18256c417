// A run in a list: its row without steps, content and the columns that only its owner needs.
import type { ProductionId, RunId, VersionId } from '@methods/base/ids';
import type { Run, RunEnding, RunError } from '../run/run.ts';
import type { RunRow } from './run-row.ts';

export interface ListedRunRow
  extends Pick<
    RunRow,
    | 'run_id'
    | 'method'
    | 'version_id'
    | 'revision'
    | 'answer_by'
    | 'metadata_json'
    | 'created_at_ms'
    | 'max_attempts'
    | 'status'
    | 'state_since_ms'
    | 'started_at_ms'
    | 'queued_ms'
    | 'running_ms'
    | 'waiting_ms'
    | 'attempts'
    | 'cancel_requested'
    | 'wake_at_ms'
    | 'error_json'
    | 'ending_json'
  > {}

export const listedRunColumns =
  'run_id, method, version_id, revision, answer_by, metadata_json, created_at_ms::float8, max_attempts, status, ' +
  'state_since_ms::float8, started_at_ms::float8, queued_ms::float8, running_ms::float8, waiting_ms::float8, attempts, ' +
  'cancel_requested, wake_at_ms::float8, error_json, ending_json';

export interface ListedRun {
  readonly runId: RunId;
  /** wf_... */
  readonly method: ProductionId;
  readonly versionId: VersionId;
  readonly revision: number;
  readonly answerBy: 'application' | 'team';
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly maxAttempts: number;
  readonly status: Run['status'];
  readonly stateSinceMs: number;
  readonly startedAtMs: number | null;
  readonly spans: { readonly queuedMs: number; readonly runningMs: number; readonly waitingMs: number };
  readonly attempts: number;
  readonly cancelRequested: boolean;
  /** Of a sleeping run. */
  readonly wakeAtMs: number | null;
  /** Of a failed run. Its message may quote values of the run. */
  readonly error: Omit<RunError, 'message'> | null;
  /** The failure of a run whose cleanup still runs. */
  readonly ending: Omit<RunError, 'message'> | null;
}

export function listedRun(row: ListedRunRow): ListedRun {
  return {
    runId: row.run_id,
    method: row.method,
    versionId: row.version_id,
    revision: row.revision,
    answerBy: row.answer_by,
    metadata: row.metadata_json === null ? {} : JSON.parse(row.metadata_json),
    createdAtMs: row.created_at_ms,
    maxAttempts: row.max_attempts,
    status: row.status,
    stateSinceMs: row.state_since_ms,
    startedAtMs: row.started_at_ms,
    spans: { queuedMs: row.queued_ms, runningMs: row.running_ms, waitingMs: row.waiting_ms },
    attempts: row.attempts,
    cancelRequested: row.cancel_requested,
    wakeAtMs: row.wake_at_ms,
    error: row.error_json === null ? null : errorOf(JSON.parse(row.error_json)),
    ending: row.ending_json === null ? null : errorOf((JSON.parse(row.ending_json) as RunEnding).error),
  };
}

function errorOf({ message: _message, ...rest }: RunError): Omit<RunError, 'message'> {
  return rest;
}
