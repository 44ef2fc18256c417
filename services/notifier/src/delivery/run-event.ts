// A committed change of a run with a listener, as this service sees it.
import type { KeyId, OrgId, ProductionId, RunId, UserId, VersionId } from '@methods/base/ids';

export type EventName = QuestionEvent | 'succeeded' | 'failed' | 'cancelled';
export type QuestionEvent = 'needs_input' | 'question.reminded' | 'question.escalated';

export interface RunEvent {
  readonly orgId: OrgId;
  readonly runId: RunId;
  /** The run's revision after the change; grows within a run. */
  readonly seq: number;
  /** Production form, wf_... */
  readonly method: ProductionId;
  readonly versionId: VersionId;
  /** Empty: the run has no webhook. */
  readonly webhookUrl: string;
  /** The key whose secret signs. */
  readonly keyId: KeyId | '';
  readonly answerBy: 'application' | 'team';
  /** 0: unknown. */
  readonly createdAtMs: number;
  readonly change: RunChange;
  /** It was more than a message of the bus: no result, nothing that a question shows and no form. */
  readonly contentLeftOut: boolean;
  /** The run's event before this one; null: none, or unknown. */
  readonly follows: { readonly seq: number; readonly atMs: number } | null;
  /** Absent: a program, or unknown. */
  readonly starter?: Person;
}

/** A person of a run, as far as the run knows them. */
export interface Person {
  /** Empty: no member. */
  readonly userId: UserId | '';
  /** In lower case; empty: unknown. */
  readonly email: string;
}

export interface DeliveredEvent extends RunEvent {
  readonly change: DeliveredChange;
}

export function isDelivered(event: RunEvent): event is DeliveredEvent {
  const { event: name } = event.change;
  return name !== 'question.closed' && name !== 'question.assigned';
}

/** JSON texts are passed on unchanged: parsing them would round large numbers. */
export type RunChange = DeliveredChange | AssignedQuestion | ClosedQuestion;

/** Webhooks are sent for these. */
export type DeliveredChange =
  | { readonly event: QuestionEvent; readonly question: Question }
  | { readonly event: 'succeeded'; readonly resultJson: string }
  | { readonly event: 'failed'; readonly error: RunError }
  | { readonly event: 'cancelled' };

/** The question is this person's from now on: another one gave it to them. */
export interface AssignedQuestion {
  readonly event: 'question.assigned';
  readonly question: Question;
  readonly to: Person;
  /** Name or address. */
  readonly by: string;
}

/** The question takes no more answers. */
export interface ClosedQuestion {
  readonly event: 'question.closed';
  readonly questionId: string;
  readonly reason: 'answered' | 'expired' | 'cancelled';
}

export interface Question {
  readonly id: string;
  readonly step: string;
  readonly prompt: string;
  /** Empty: the author gave none. */
  readonly details: string;
  readonly show: readonly { readonly path: string; readonly valueJson: string }[];
  /** JSON Schema of the answer. */
  readonly formJson: string;
  /** 0: unknown. */
  readonly askedAtMs: number;
  /** 0: waits until answered or cancelled. */
  readonly deadlineAtMs: number;
  /** People to whom it was delegated; absent: none. */
  readonly delegates?: readonly Person[];
  /** Absent: every member may answer, and so may a program. */
  readonly rules?: QuestionRules;
}

/** What the question says of the people who answer it. */
export interface QuestionRules {
  /** Addresses and roles; empty: every member. */
  readonly to: readonly string[];
  readonly escalateTo: readonly string[];
  /** The person who started the run may not answer. */
  readonly notStarter: boolean;
  /** No program may answer. */
  readonly forPeople: boolean;
  /** The method's own answer counts at the deadline; else the run fails. */
  readonly answersItself: boolean;
  /** People whose answer counts already, where several are needed. */
  readonly voters: readonly Person[];
}

export interface RunError {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly step: string;
}
