// A committed change of a run with a listener, as this service sees it.
import type { KeyId, OrgId, ProductionId, RunId, UserId, VersionId } from '@methods/base/ids';

export type EventName = QuestionEvent | 'succeeded' | 'failed' | 'cancelled';
export type QuestionEvent = 'needs_input' | 'question.reminded' | 'question.escalated';

export interface RunEvent {
  readonly orgId: OrgId;
  readonly runId: RunId;
  /** The run's revision after the change; it increases within a run. */
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
  /** The event exceeded a message of the bus: it has no result, no values of a question and no form. */
  readonly contentLeftOut: boolean;
  /** The run's previous event; null: none, or unknown. */
  readonly follows: { readonly seq: number; readonly atMs: number } | null;
  /** Absent: a program, or unknown. */
  readonly starter?: Person;
  /** The run is in device mode: its content is sealed, and only holders of its content key answer its questions. */
  readonly onDevice?: true;
}

/** A person of a run, with the fields that the run knows. */
export interface Person {
  /** Empty: not a member. */
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

/** JSON texts are passed on unchanged, since parsing them would round large numbers. */
export type RunChange = DeliveredChange | AssignedQuestion | ClosedQuestion;

/** Changes that webhooks are sent for. */
export type DeliveredChange =
  | { readonly event: QuestionEvent; readonly question: Question }
  | { readonly event: 'succeeded'; readonly resultJson: string }
  | { readonly event: 'failed'; readonly error: RunError }
  | { readonly event: 'cancelled' };

/** Another person assigned or delegated the question to this person. */
export interface AssignedQuestion {
  readonly event: 'question.assigned';
  readonly question: Question;
  readonly to: Person;
  /** Name or address. */
  readonly by: string;
}

/** The question accepts no more answers. */
export interface ClosedQuestion {
  readonly event: 'question.closed';
  readonly questionId: string;
  readonly reason: 'answered' | 'expired' | 'cancelled';
  /** People were asked even if the application answers. */
  readonly askedPeople: boolean;
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
  /** In device mode: the envelope, in base64url; absent: it was too large for the event. */
  readonly sealed?: string;
  /** In device mode: the source has an answer for the deadline. */
  readonly answersItself?: true;
  /** Absent: every member may answer, and so may a program. */
  readonly rules?: QuestionRules;
}

/** The question's rules about the people who answer it. */
export interface QuestionRules {
  /** Addresses and roles; empty: every member. */
  readonly to: readonly string[];
  readonly escalateTo: readonly string[];
  /** The person who started the run may not answer. */
  readonly notStarter: boolean;
  /** No program may answer. */
  readonly forPeople: boolean;
  /** At the deadline the method's own answer counts; otherwise the run fails. */
  readonly answersItself: boolean;
  /** People whose answer already counts, if several are needed. */
  readonly voters: readonly Person[];
}

export interface RunError {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly step: string;
}
