// The answer of the rules to one command: a change, nothing (a harmless repeat), or a refusal by code; and the effects
// that follow a commit.

import type { QuestionId } from '@methods/base/ids';
import type { Party } from './party.ts';
import type { Run, StepSummary } from './run.ts';

export type Decision =
  | {
      readonly kind: 'changed';
      readonly run: Run;
      readonly effects: readonly Effect[];
      readonly steps: readonly NewStep[];
      /** The reply to the sender, if the change is not the requested one. */
      readonly refusal?: RefusalCode;
    }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

/**
 * `stale_attempt`: the token is not the run's. `out_of_order`: an earlier report is missing. `too_much_recorded`: the
 * records of the run's steps would exceed their bound. `not_sealed`: plain content of a run in device mode. `not_queued`, `other_worker`, `not_due`, `exists`: the time for
 * the command has passed; only the run's own node sees these. `vote_final`: this person has answered through a link,
 * which answers once.
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
  | 'not_sealed'
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

/** `steps`: the steps to store with this change. */
export function changed(run: Run, effects: readonly Effect[] = [], steps: readonly NewStep[] = NO_STEPS): Decision {
  return { kind: 'changed', run, effects, steps };
}

const NO_STEPS: readonly NewStep[] = [];

export const unchanged: Decision = { kind: 'unchanged' };

export function refused(code: RefusalCode): Decision {
  return { kind: 'refused', code };
}

/**
 * The effects after a change is committed, as plain values. None happens before the commit, except the grant of a run
 * that only computes (docs/adr/0044-early-grants.md).
 */
export type Effect =
  | { readonly type: 'grant'; readonly token: string; readonly workerSession: string }
  | { readonly type: 'lease_ended'; readonly token: string }
  | { readonly type: 'notify_cancel'; readonly token: string; readonly workerSession: string }
  | {
      readonly type: 'emit';
      readonly event: RunEventName;
      readonly follows: EarlierEvent | null;
      /** When it happened, if that is not the time of the run's change of state. */
      readonly atMs?: number;
      /** Of `question.closed`. */
      readonly closed?: ClosedQuestion;
      /** Of `question.assigned`. */
      readonly assigned?: AssignedQuestion;
    };

export type RunEventName = QuestionEventName | 'succeeded' | 'failed' | 'cancelled';

/** Events for the people who answer. */
const QUESTION_EVENTS = [
  'needs_input',
  'question.reminded',
  'question.escalated',
  'question.assigned',
  'question.closed',
] as const;
type QuestionEventName = (typeof QUESTION_EVENTS)[number];

export interface ClosedQuestion {
  readonly questionId: QuestionId;
  readonly reason: 'answered' | 'expired' | 'cancelled';
  /** People were asked even if the application answers: its rules name people, or it was escalated, or given to one. */
  readonly askedPeople: boolean;
}

interface AssignedQuestion {
  readonly to: Party;
  readonly by: Party;
}

export function isOfQuestion(event: RunEventName): event is QuestionEventName {
  return (QUESTION_EVENTS as readonly RunEventName[]).includes(event);
}

/** The run's event before this one: the question last asked. */
export interface EarlierEvent {
  /** The run's revision that asked. */
  readonly seq: number;
  readonly atMs: number;
}

/** A step to be stored with its out; the run itself holds only the summary. */
export interface NewStep {
  readonly seq: number;
  readonly summary: StepSummary;
  readonly outJson: string | null;
  readonly outWithheld: boolean;
  readonly logTail: string | null;
}
