// A run in a list: its row without steps, content and the columns that only its owner needs.
import type { Run, RunEnding, RunError } from '../run/run.ts';
import { type ListedFacts, type ListedRunRow, listedFactsFrom, selected } from './run-columns.ts';

export const listedRunColumns = selected(({ listed }) => listed);

/** Its facts, and where it is. */
export interface ListedRun extends ListedFacts {
  readonly revision: number;
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
    ...listedFactsFrom(row),
    revision: row.revision,
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
