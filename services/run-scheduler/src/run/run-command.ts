// The commands of a run. Workers' reports carry the attempt token and their number within the attempt; commands of
// people and applications name their question.
import type { FolderId, QuestionId } from '@methods/base/ids';
import type { NewStep } from './decision.ts';
import type { Channel, Party } from './party.ts';
import type { AnswerPolicy } from './policy.ts';
import type { AnswerChecksOf, RunError, RunFacts, StepSummary } from './run.ts';

export type RunCommand =
  | StartRun
  | ClaimRun
  | RecordStep
  | AskRun
  | SleepRun
  | FinishRun
  | GiveBackRun
  | ReturnGrant
  | HeartbeatRun
  | ExpireLease
  | AnswerRun
  | AssignQuestion
  | DelegateQuestion
  | ExpireQuestion
  | WakeRun
  | CancelRun;

export interface StartRun {
  readonly type: 'start';
  readonly facts: RunFacts;
  /** The records that the run takes over from another run of its version; absent: none. */
  readonly kept?: KeptBeginning;
}

export interface KeptBeginning {
  /** In order; numbered before every report of this run. */
  readonly steps: readonly NewStep[];
  /** A folder of this run with the files that the steps name. */
  readonly folderId: FolderId | null;
}

export interface ClaimRun {
  readonly type: 'claim';
  /** New with every claim. */
  readonly token: string;
  readonly workerSession: string;
  /** The worker knows claims that are only for a cleanup. */
  readonly cleansUp: boolean;
}

/** A report of a worker: refused as stale when its token is not the run's. */
interface Report {
  readonly token: string;
  /** 1, 2, 3 ... within the attempt. */
  readonly seq: number;
}

/** A report that may carry content. */
interface ContentReport extends Report {
  /** All content in it is sealed, or the service's own: a run in device mode takes no other. */
  readonly isSealed?: boolean;
}

export interface RecordStep extends ContentReport {
  readonly type: 'record_step';
  readonly step: StepSummary;
  readonly outJson: string | null;
  /** The out holds a secret: it is not stored, and the step runs again after a resume. */
  readonly outWithheld: boolean;
  readonly logTail: string | null;
  /** Holds the files that this step names in its out; null: nothing new. */
  readonly folderId: FolderId | null;
}

export interface AskRun extends ContentReport {
  readonly type: 'ask';
  readonly questionId: QuestionId;
  readonly step: string;
  readonly prompt: string;
  readonly details: string;
  readonly show: readonly { readonly path: string; readonly valueJson: string }[];
  readonly formJson: string;
  /** null: no deadline. */
  readonly timeoutMs: number | null;
  readonly timeoutText: string;
  readonly checks?: AnswerChecksOf;
  readonly policy?: AnswerPolicy;
  readonly formSha256?: string;
  readonly versionSha256?: string;
  /** In device mode: the question, in base64. */
  readonly sealed?: string;
  /** In device mode: the question asks again and keeps this deadline. */
  readonly deadlineAtMs?: number;
  readonly hasTimeoutAnswer?: true;
  readonly folderId: FolderId | null;
}

export interface SleepRun extends Report {
  readonly type: 'sleep';
  readonly waitMs: number;
  readonly folderId: FolderId | null;
}

export interface FinishRun extends ContentReport {
  readonly type: 'finish';
  readonly outcome:
    | { readonly status: 'succeeded'; readonly resultJson: string }
    /** `cleanupLeft`: the walk was interrupted before its cleanup. */
    | { readonly status: 'failed'; readonly error: RunError; readonly cleanupLeft?: boolean };
}

export interface GiveBackRun extends Report {
  readonly type: 'give_back';
}

/** The grant reached no worker. */
export interface ReturnGrant {
  readonly type: 'return_grant';
  readonly token: string;
}

export interface HeartbeatRun {
  readonly type: 'heartbeat';
  readonly token: string;
}

export interface ExpireLease {
  readonly type: 'expire_lease';
  readonly token: string;
}

export interface AnswerRun {
  readonly type: 'answer';
  /** null: the open question. */
  readonly questionId: QuestionId | null;
  readonly answerJson: string;
  readonly digest: string;
  /** null: a gateway of an earlier release names no sender. */
  readonly by: Party | null;
  readonly channel: Channel | null;
  /** Empty: none. */
  readonly comment: string;
}

export interface AssignQuestion {
  readonly type: 'assign_question';
  readonly questionId: QuestionId;
  readonly by: Party;
  /** null: unassigned. */
  readonly assignee: Party | null;
}

/** `to` may answer from now on, besides those who may already. */
export interface DelegateQuestion {
  readonly type: 'delegate_question';
  readonly questionId: QuestionId;
  readonly by: Party;
  readonly to: Party;
}

/** A time of the question has come: its deadline, its escalation or a reminder. */
export interface ExpireQuestion {
  readonly type: 'expire_question';
  readonly questionId: QuestionId;
}

export interface WakeRun {
  readonly type: 'wake';
}

export interface CancelRun {
  readonly type: 'cancel';
}
