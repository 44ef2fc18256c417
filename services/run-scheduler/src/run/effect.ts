// The effects after a change is committed, as plain values. None of them happens before, but the grant of a run that only
// computes (docs/adr/0044-early-grants.md).
import type { QuestionId } from '@methods/base/ids';
import type { Party } from './party.ts';
import type { StepSummary } from './run.ts';

export type Effect =
  | { readonly type: 'grant'; readonly token: string; readonly workerSession: string }
  | { readonly type: 'lease_ended'; readonly token: string }
  | { readonly type: 'notify_cancel'; readonly token: string; readonly workerSession: string }
  | {
      readonly type: 'emit';
      readonly event: RunEventName;
      readonly follows: EarlierEvent | null;
      /** When it happened, if not with the run's change of state. */
      readonly atMs?: number;
      /** Of `question.closed`. */
      readonly closed?: ClosedQuestion;
      /** Of `question.assigned`. */
      readonly assigned?: AssignedQuestion;
    };

export type RunEventName = QuestionEventName | 'succeeded' | 'failed' | 'cancelled';

/** For the people who answer. */
const QUESTION_EVENTS = [
  'needs_input',
  'question.reminded',
  'question.escalated',
  'question.assigned',
  'question.closed',
] as const;
export type QuestionEventName = (typeof QUESTION_EVENTS)[number];

export interface ClosedQuestion {
  readonly questionId: QuestionId;
  readonly reason: 'answered' | 'expired' | 'cancelled';
}

export interface AssignedQuestion {
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

/** A step to be kept with its out; the run itself carries only the summary. */
export interface NewStep {
  readonly seq: number;
  readonly summary: StepSummary;
  readonly outJson: string | null;
  readonly outWithheld: boolean;
  readonly logTail: string | null;
}
