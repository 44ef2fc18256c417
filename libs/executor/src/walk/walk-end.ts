// How the walk of a step, a list or a method ends.
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { RunError, RunQuestion } from '../run-outcome.ts';
import type { StepError } from '../step-failure.ts';

/** Cannot continue here and now. The steps it passed are recorded; walking again leads to the same place. */
export type Blocked =
  | { readonly kind: 'asking'; readonly question: RunQuestion }
  | { readonly kind: 'sleeping'; readonly untilMs: number }
  /** The run has failed already (`RunOptions.ending`): no more of its steps begin, only its cleanup. */
  | { readonly kind: 'over' }
  /** The run is no longer ours, or was ended from outside. */
  | { readonly kind: 'stopped' };

/** The step that failed itself, not the groups around it. */
export interface Failed {
  readonly kind: 'failed';
  readonly path: string;
  readonly name: string;
  readonly error: StepError;
  /** An ask step, or one around it, whose deadline passed. */
  readonly code?: 'no_answer';
}

/** `value`: the value for later steps; null when the step was skipped or failed with `on_error: continue`. */
export type Walked = { readonly kind: 'done'; readonly value: JsonValue; readonly skipped?: true } | Failed | Blocked;

export interface FailedMethod {
  readonly kind: 'failed';
  readonly error: RunError;
  /**
   * The value of `failure.step`: the failed step's name, or the part of the method that failed (`require`, `result`).
   */
  readonly name: string;
}

export type MethodEnd = { readonly kind: 'done'; readonly result: JsonObject } | FailedMethod | Blocked;

export const STOPPED = { kind: 'stopped' } as const;
export const OVER = { kind: 'over' } as const;
export const DONE_NULL = { kind: 'done', value: null } as const;
export const SKIPPED = { ...DONE_NULL, skipped: true } as const;

/**
 * The outcome of branches that are all at rest; null: all are done. A failure precedes a question, since its answer
 * would be dropped. Of several questions the first in file order is asked.
 */
export function atRest(ends: readonly Walked[]): Failed | Blocked | null {
  let sleeping: Blocked | null = null;
  for (const kind of ['stopped', 'over', 'failed', 'asking'] as const) {
    for (const end of ends) if (end.kind === kind) return end as Failed | Blocked;
  }
  for (const end of ends) {
    if (end.kind !== 'sleeping') continue;
    if (sleeping === null || (sleeping.kind === 'sleeping' && end.untilMs < sleeping.untilMs)) sleeping = end;
  }
  return sleeping;
}
