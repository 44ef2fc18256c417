// Runs as the server shows them, and how a reply is recognized as one.
import type { Run, RunStatus } from '@methods/api/run';

export type { Run, RunStatus };

/** `sealed`: of a run in device mode, by a key that this client does not have; the other fields are then absent. */
export type Question = NonNullable<Run['question']>;

/** A sealed question that was opened. `problems`: why the answer to the question before it did not fit. */
export interface OpenedQuestion {
  readonly question: Question;
  readonly problems: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** As lists have it. */
export type ListedRun = Omit<Run, 'steps' | 'question' | 'answers' | 'result'>;
export type StartedRun = Pick<Run, 'run_id' | 'version_id' | 'status'> & Partial<Run>;

const STATUSES: Readonly<Record<RunStatus, boolean>> = {
  queued: false,
  running: false,
  waiting: false,
  succeeded: true,
  failed: true,
  cancelled: true,
};

export function isOver({ status }: Pick<Run, 'status'>): boolean {
  return STATUSES[status];
}

/** A status of a later version is none: a call would wait for its end without knowing it. */
export function isStarted(value: unknown): value is StartedRun {
  const { run_id: id, status } = Object(value) as Record<string, unknown>;
  return typeof id === 'string' && typeof status === 'string' && Object.hasOwn(STATUSES, status);
}

export function isWhole(value: unknown): value is Run {
  return isStarted(value) && 'timing' in value;
}

export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}
