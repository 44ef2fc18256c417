// The options of a run: its version, its inputs, its earlier attempts, and the world it acts on.

import type { Clock } from '@methods/base/clock';
import type { LocalVersionId, QuestionId, RunId, VersionId } from '@methods/base/ids';
import type { CallTarget, CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { RunObserver } from './journal-events.ts';
import type { PreparedEnvironment } from './prepared-environment.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunError, RunJournal } from './run-outcome.ts';
import type { StopSignal } from './run-stop.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { StepError } from './step-failure.ts';
import type { Substitute } from './substitute.ts';

/** A step that ended in an earlier attempt, as the server acknowledged it; or one that began (`running`). */
export interface FinishedStep {
  readonly status: 'succeeded' | 'skipped' | 'failed' | 'running';
  /** Of a running step: its checkpoint, or null. */
  readonly out: JsonValue;
  /** Its out held a secret and was not stored: such a step runs again. */
  readonly withheld: boolean;
  /** Why it failed, where that is known. */
  readonly error?: StepError;
}

/** The version that a `call` runs. May throw `StepFailure`; any other error fails the step without its message. */
export type Callee = (target: CallTarget) => Promise<CalledVersion>;

export interface CalledVersion {
  readonly method: CompiledMethod;
  readonly versionId: VersionId | LocalVersionId;
  readonly environment?: PreparedEnvironment;
  /** Finds what this version calls; the caller's own unless given. */
  readonly callee?: Callee;
}

export interface RunOptions {
  readonly runId: RunId;
  readonly versionId: VersionId | LocalVersionId;
  readonly startedAtMs: number;
  readonly method: CompiledMethod;
  readonly inputs: JsonObject;
  readonly finished: ReadonlyMap<string, FinishedStep>;
  /** The accepted answer to the question this run waited for; `step` is the question's path. */
  readonly answer?: {
    readonly questionId: QuestionId;
    readonly step: string;
    readonly value: JsonObject;
    /** The deadline has passed: the answer is the one that the source names. */
    readonly timedOut?: boolean;
  };
  /** The server saw neither the question nor its answer, which is checked against the form here. */
  readonly onDevice?: boolean;
  /**
   * The run has failed, and its cleanup has yet to run: finished steps are read again, no other step begins, then
   * `on_failure` and `finally` run. The run ends with this error, or with the one its checkpoint keeps.
   */
  readonly ending?: RunError;
  /** The secrets of the worker's environment; undeclared ones are ignored. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly journal: RunJournal;
  readonly runners: RunnerPool;
  readonly fetch: typeof fetch;
  readonly folder: RunFolder;
  /** Cancelled, lost or stale: the current step is ended and nothing more is recorded. */
  readonly signal: StopSignal;
  readonly clock: Clock;
  /** The version's prepared dependencies on this machine; absent: it has none. */
  readonly environment?: PreparedEnvironment;
  /** Absent: a `call` fails. */
  readonly callee?: Callee;
  /** Running time of earlier attempts, for `run_timeout`; 0 unless given. */
  readonly ranMs?: number;
  /** A step that takes longer is reported to the journal while it runs; 50 unless given. */
  readonly startsToldAfterMs?: number;
  readonly substitute?: Substitute;
  readonly observer?: RunObserver;
  /** 0 to 1, for the jitter of retries; `Math.random` unless given. */
  readonly random?: () => number;
}
