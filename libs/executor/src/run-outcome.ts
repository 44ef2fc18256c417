// The outcomes of a walk through a method, and its records on the way.

import type { RefusedAnswer } from '@methods/method/answer-checks';
import type { AnswerPolicy } from '@methods/method/answer-policy';
import type { StepKind } from '@methods/method/compiled-method';
import type { JsonObject, JsonSchema, JsonValue } from '@methods/method/json';
import type { ErrorKind, StepError } from './step-failure.ts';

export interface CheckRecord {
  readonly name: string;
  /** `step`: of a check step; `code`: of `step.check` in the author's code. */
  readonly phase: 'require' | 'ensure' | 'step' | 'code';
  /** `warned`: not true, at level `warn`. */
  readonly status: 'passed' | 'failed' | 'warned';
  /** The level of a check that is not true; absent in checks by code. */
  readonly level?: 'error' | 'warn';
  readonly message: string | null;
  readonly actual: JsonValue;
  /** The values the expression read, by their paths; long ones are shortened. Absent: none, or checked by code. */
  readonly values?: JsonObject;
}

/** One try of a step that acts. */
export interface StepTry {
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** Null: the try that succeeded. */
  readonly error: StepError | null;
}

export interface StepLog {
  /** Bytes the step wrote, before any was cut. */
  readonly bytes: number;
  readonly cut: boolean;
  /** The masked end of it, within the step's `log_kb`. */
  readonly text: string;
}

/** The record of a step that has ended. Everything in it is masked. */
export interface StepEnd {
  /**
   * `refund`, `upsert[3]` (a round), `loop[2]/inner`, `classify/ticket` (a called step), `on_failure/tell`. `@require`
   * and `@ensure` hold the checks of the method itself; no step can be called so.
   */
  readonly path: string;
  readonly kind: StepKind;
  readonly status: 'succeeded' | 'skipped' | 'failed';
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  /** Null unless the step succeeded; null as well when `withheld`. */
  readonly out: JsonValue;
  /** `out` as JSON text, so that it is not encoded again; empty where there is none to send. */
  readonly outJson: string;
  /** The out holds a declared secret field: it is never stored, and the step runs again after a resume. */
  readonly withheld: boolean;
  readonly checks: readonly CheckRecord[];
  /** In order; none where nothing was tried (a group, a skipped step). */
  readonly tries: readonly StepTry[];
  readonly error: StepError | null;
  /** Paths of returned fields that `out` does not declare. */
  readonly dropped: readonly string[];
  readonly log: StepLog | null;
}

export type RunErrorCode =
  | 'step_failed'
  | 'check_failed'
  | 'secret_missing'
  | 'secret_too_short'
  | 'result_invalid'
  | 'run_timeout'
  | 'no_answer'
  | 'attempts_exhausted';

export interface RunError {
  readonly code: RunErrorCode;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly step?: string;
}

export interface RunQuestion {
  readonly step: string;
  /** Plain text, never markup. */
  readonly prompt: string;
  readonly details?: string;
  readonly show: readonly { readonly path: string; readonly value: JsonValue }[];
  readonly form: JsonSchema;
  /** From the question on; absent: no deadline. */
  readonly timeoutMs?: number;
  /** The deadline as the source spells it, for "No answer within 3d". */
  readonly timeoutText?: string;
  /** The other values that the step's `ensure` reads; absent: there are none, or they are too large to be sent. */
  readonly ensureScope?: JsonObject;
  /** Rules of the source; absent: none. */
  readonly policy?: AnswerPolicy;
  /** The checks that refused the last answer: it is asked again. */
  readonly refused?: readonly RefusedAnswer[];
}

/**
 * `lastRecord`: the record of the walk's last step, which the journal has not received. It is sent in one frame with
 * the outcome, so that a run's end costs one message and one commit.
 */
export type RunOutcome =
  | { readonly status: 'succeeded'; readonly result: JsonObject; readonly lastRecord?: StepEnd }
  | { readonly status: 'failed'; readonly error: RunError; readonly lastRecord?: StepEnd }
  | { readonly status: 'waiting'; readonly question: RunQuestion; readonly lastRecord?: StepEnd }
  /** A wait of more than a minute: there is nothing to do here before `untilMs` (wall time). */
  | { readonly status: 'sleeping'; readonly untilMs: number; readonly lastRecord?: StepEnd }
  | { readonly status: 'stopped'; readonly lastRecord?: StepEnd };

/** Where step records go. */
export interface RunJournal {
  /**
   * Resolves when the record is acknowledged: from then on the step never runs again. Rejects when the run is no longer
   * ours. Records of one run are passed in order; an acknowledgement covers those before it.
   */
  stepEnded(record: StepEnd): Promise<void>;
  /**
   * Resolves when it is acknowledged that the step begins; rejects as `stepEnded` does. Called only where a resume
   * needs it: `on_interrupt` other than `rerun`, a wait (checkpoint `{ until }`), a call of the published version
   * (`{ version_id }`), and, with kind `failure` and path `@failure`, a run that failed and has steps to run after
   * that (`{ code, kind, message, step, name }`). Absent: nothing is kept, for runs that are never resumed.
   */
  stepStarted?(path: string, kind: StepKind | 'failure', checkpoint?: JsonObject): Promise<void>;
  /** A step has run since `startedAtMs`. For readers only; nothing waits for it. Absent: not reported. */
  stepRuns?(path: string, kind: StepKind, startedAtMs: number): void;
  /** True: the run ends here at its next acknowledgement, so no step begins before it. Absent: it never does. */
  givesBack?(): boolean;
}
