// A run. One union over its states: a waiting run has a question by type, a queued run cannot.
import type { FolderId, KeyId, OrgId, ProductionId, QuestionId, RunId, VersionId } from '@methods/base/ids';
import type { Party } from './party.ts';
import type { AnswerPolicy } from './policy.ts';
import type { Receipt, Vote } from './receipt.ts';

export type Run = QueuedRun | SleepingRun | RunningRun | WaitingRun | SucceededRun | FailedRun | CancelledRun;
export type RunStatus = Run['status'];

/** Set at the start and never changed. */
export interface RunFacts {
  readonly runId: RunId;
  readonly orgId: OrgId;
  readonly shard: number;
  /** Production id, wf_... */
  readonly method: ProductionId;
  readonly versionId: VersionId;
  /** After defaults. */
  readonly inputsJson: string;
  readonly idempotencyHash: Uint8Array;
  readonly requestDigest: Uint8Array;
  readonly webhookUrl: string | null;
  /** Empty: no key started it. */
  readonly keyId: KeyId | '';
  /** The person who started it; null: a key did, or it is unknown. */
  readonly starter: Party | null;
  readonly answerBy: 'application' | 'team';
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly maxAttempts: number;
  /** Features a worker must have beside those every worker has; sorted, with commas. */
  readonly needs: string;
  /** The version has steps for after a failure, or steps whose failure a run outlives. */
  readonly cleansUp: boolean;
}

interface RunBase {
  readonly facts: RunFacts;
  /** Grows by one with every commit; 0 before the first. */
  readonly revision: number;
  readonly stateSinceMs: number;
  readonly startedAtMs: number | null;
  /** Finished spans of each state, in ms. */
  readonly spans: Spans;
  /** Attempts counted so far, at most facts.maxAttempts. */
  readonly attempts: number;
  /** False when the next claim counts as an attempt: before the first one and after a lost lease. */
  readonly attemptOpen: boolean;
  /** Token of the last attempt that reported; kept past its end so that a repeated report is recognized. */
  readonly token: string | null;
  /** The claim before it, taken for undelivered and without a report since. */
  readonly returnedToken: string | null;
  /** Last report of that attempt that is recorded. */
  readonly lastSeq: number;
  readonly steps: readonly StepSummary[];
  readonly answer: AcceptedAnswer | null;
  /** Of the newest accepted answers, the last one at the end. */
  readonly answers: readonly Receipt[];
  readonly folderId: FolderId | null;
  /** The run has failed, or will unless its worker decides otherwise; null: it has not. */
  readonly ending: RunEnding | null;
}

/**
 * A failure that no worker saw, before its cleanup. `question`: a deadline passed; the next walk decides the run's end.
 * `cleanup`: the run has failed for good; one more claim, only for `on_failure` and `finally`.
 */
export interface RunEnding {
  readonly kind: 'question' | 'cleanup';
  readonly error: RunError;
  /** A queued run ends without them then. */
  readonly byMs: number;
}

export interface Spans {
  readonly queuedMs: number;
  readonly runningMs: number;
  readonly waitingMs: number;
}

export interface QueuedRun extends RunBase {
  readonly status: 'queued';
}

/** Shown as queued: it is in no queue before its time. */
export interface SleepingRun extends RunBase {
  readonly status: 'sleeping';
  readonly wakeAtMs: number;
}

export interface RunningRun extends RunBase {
  readonly status: 'running';
  readonly token: string;
  /** The worker stream the run was granted to. */
  readonly workerSession: string;
  readonly cancelRequested: boolean;
}

export interface WaitingRun extends RunBase {
  readonly status: 'waiting';
  readonly question: OpenQuestion;
}

export interface SucceededRun extends RunBase {
  readonly status: 'succeeded';
  readonly resultJson: string;
}

export interface FailedRun extends RunBase {
  readonly status: 'failed';
  readonly error: RunError;
}

export interface CancelledRun extends RunBase {
  readonly status: 'cancelled';
}

export interface OpenQuestion {
  readonly id: QuestionId;
  readonly step: string;
  readonly prompt: string;
  readonly details: string;
  readonly show: readonly { readonly path: string; readonly valueJson: string }[];
  /** JSON Schema of the answer. */
  readonly formJson: string;
  readonly askedAtMs: number;
  /** null: waits until answered or cancelled. */
  readonly deadlineAtMs: number | null;
  /** The deadline as the method's source spells it, for example 3d. */
  readonly timeoutText: string;
  /** Checks that judge the answer; absent: there are none, or a release asked that left them to the worker. */
  readonly checks?: AnswerChecksOf;
  /** The run's revision that asked; absent: of a release that did not keep it, and changed nothing since. */
  readonly askedSeq?: number;
  /** Hex digests of the form's canonical JSON, and of the source that asks. */
  readonly formSha256?: string;
  readonly versionSha256?: string;
  /** Absent: every member may answer, and so may a key. */
  readonly policy?: AnswerPolicy;
  /** Each person's present answer, where several people are needed. */
  readonly votes?: readonly Vote[];
  /** The id of a person, or the one address that is asked; absent: no one. */
  readonly assignee?: string;
  readonly delegations?: readonly Delegation[];
  /** Reminders that were due, in the order of the policy. */
  readonly reminders?: number;
  readonly escalatedAtMs?: number;
}

export interface Delegation {
  readonly from: Party;
  readonly to: Party;
  readonly atMs: number;
}

/** The place of the checks, and the values they read besides the answer. */
export interface AnswerChecksOf {
  readonly method: ProductionId;
  readonly versionId: VersionId;
  /** Of the ask step in that version. */
  readonly path: string;
  /** Empty: only checks of the answer by itself can be judged before the run continues. */
  readonly scopeJson: string;
}

export interface AcceptedAnswer {
  readonly questionId: QuestionId;
  readonly step: string;
  /** After defaults. */
  readonly answerJson: string;
  /** Hex digest of the answer as it was sent. */
  readonly digest: string;
  /** The event that asked; absent in rows of releases that did not keep it. */
  readonly asked?: { readonly seq: number; readonly atMs: number };
  /** Absent as `asked` may be. */
  readonly answeredAtMs?: number;
}

export interface RunError {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly step: string;
}

/** A step that has ended, or has begun (`running`, `waiting`) with a checkpoint for a resume; without its out. */
export interface StepSummary {
  readonly path: string;
  readonly kind: string;
  readonly status: 'running' | 'waiting' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly runningMs: number;
  readonly waitingMs: number;
  readonly checks: readonly StepCheck[];
  readonly error: StepError | null;
}

export interface StepCheck {
  readonly name: string;
  readonly phase: string;
  readonly status: string;
  readonly message: string;
}

export interface StepError {
  readonly kind: string;
  readonly message: string;
  readonly status: number;
  readonly line: number;
  /** An HTTP server's answer beside its status; absent: none, as in records of earlier releases. */
  readonly reason?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

export function isFinished(run: Run): run is SucceededRun | FailedRun | CancelledRun {
  return run.status === 'succeeded' || run.status === 'failed' || run.status === 'cancelled';
}
