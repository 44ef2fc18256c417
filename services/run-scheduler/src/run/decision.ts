// The answer of the rules to one command: a change, nothing (a harmless repeat), or a refusal by code.
import type { Effect, NewStep } from './effect.ts';
import type { Run } from './run.ts';

export type Decision =
  | {
      readonly kind: 'changed';
      readonly run: Run;
      readonly effects: readonly Effect[];
      readonly steps: readonly NewStep[];
      /** The reply to the sender, where the change is not the requested one. */
      readonly refusal?: RefusalCode;
    }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

/**
 * `stale_attempt`: the token is not the run's. `out_of_order`: an earlier report is missing. `too_much_recorded`: the
 * records of the run's steps would become larger than a run may be. `not_queued`,
 * `other_worker`, `not_due`, `exists`: the moment for it has passed; only the run's own node ever sees these. `vote_final`: this person has answered
 * through a link, which answers once.
 */
export type RefusalCode =
  | 'not_found'
  | 'exists'
  | 'not_queued'
  | 'other_worker'
  | 'not_due'
  | 'stale_attempt'
  | 'out_of_order'
  | 'too_much_recorded'
  | 'run_not_waiting'
  | 'run_finished'
  | 'question_changed'
  | 'not_an_answerer'
  | 'vote_final'
  | 'too_many_votes'
  | DelegationRefusal;

export type DelegationRefusal =
  | 'assignee_may_not_answer'
  | 'delegate_is_starter'
  | 'delegate_has_delegated'
  | 'too_many_delegations';

/** `steps`: those to be kept with this change. */
export function changed(run: Run, effects: readonly Effect[] = [], steps: readonly NewStep[] = NO_STEPS): Decision {
  return { kind: 'changed', run, effects, steps };
}

const NO_STEPS: readonly NewStep[] = [];

export const unchanged: Decision = { kind: 'unchanged' };

export function refused(code: RefusalCode): Decision {
  return { kind: 'refused', code };
}
