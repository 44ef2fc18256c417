// A run, as one union over its states: by its type a waiting run has a question and a queued run has none.
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
  /** The inputs with their defaults. */
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
  /** Features that only some workers have and that the run needs; sorted, separated by commas. */
  readonly needs: string;
  /** The version has steps that run after a failure, or steps whose failure does not end the run. */
  readonly cleansUp: boolean;
  /** 32 hex digits chosen by the client of a run in device mode, which seals its content; null: not in device mode. */
  readonly contentId: string | null;
  /** The fingerprint of the content key that sealed its inputs, in hex; null with `contentId`. */
  readonly sealedBy: string | null;
  /** The run that this one repeats; empty: none. */
  readonly rerunOf: RunId | '';
}

interface RunBase {
  readonly facts: RunFacts;
  /** Increases by one with every commit; 0 before the first. */
  readonly revision: number;
  readonly stateSinceMs: number;
  readonly startedAtMs: number | null;
  /** Finished spans of each state, in ms. */
  readonly spans: Spans;
  /** Attempts counted so far, at most facts.maxAttempts. */
  readonly attempts: number;
  /** False when the next claim counts as an attempt: before the first one and after a lost lease. */
  readonly attemptOpen: boolean;
  /** Token of the last attempt that reported; kept after its end so that a repeated report is recognized. */
  readonly token: string | null;
  /** Token of the previous claim, whose grant counted as undelivered and which has not reported since. */
  readonly returnedToken: string | null;
  /** The last recorded report of that attempt. */
  readonly lastSeq: number;
  readonly steps: readonly StepSummary[];
  readonly answer: AcceptedAnswer | null;
  /** The newest accepted answers, the newest one last. */
  readonly answers: readonly Receipt[];
  readonly folderId: FolderId | null;
  /** The run has failed, or will unless its worker decides otherwise; null: it has not. */
  readonly ending: RunEnding | null;
}

/**
 * A failure without a worker, before its cleanup. `question`: a deadline passed; the next walk decides the run's end.
 * `cleanup`: the run has failed finally; one more claim, only for `on_failure` and `finally`.
 */
export interface RunEnding {
  readonly kind: 'question' | 'cleanup';
  readonly error: RunError;
  /** The time at which a queued run ends without its cleanup. */
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

/** Shown as queued, but in no queue before its time. */
export interface SleepingRun extends RunBase {
  readonly status: 'sleeping';
  readonly wakeAtMs: number;
}

export interface RunningRun extends RunBase {
  readonly status: 'running';
  readonly token: string;
  /** The worker stream that the run was granted to. */
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
  /** Checks that judge the answer; absent: there are none, or the release that asked left them to the worker. */
  readonly checks?: AnswerChecksOf;
  /** The run's revision that asked; absent: set by a release that did not store it, and unchanged since. */
  readonly askedSeq?: number;
  /** Hex digests of the form's canonical JSON, and of the source that asks. */
  readonly formSha256?: string;
  readonly versionSha256?: string;
  /** Absent: every member may answer, and so may a key. */
  readonly policy?: AnswerPolicy;
  /** Each person's present answer, if several people are needed. */
  readonly votes?: readonly Vote[];
  /** The id of a person, or the only address that is asked; absent: unassigned. */
  readonly assignee?: string;
  readonly delegations?: readonly Delegation[];
  /** In device mode: the envelope with prompt, details, shown values and form, in base64; they are empty here. */
  readonly sealed?: string;
  /** In device mode: the source has an answer for the deadline, which the worker takes. */
  readonly hasTimeoutAnswer?: true;
  /** The number of reminders that were due, in the order of the policy. */
  readonly reminders?: number;
  readonly escalatedAtMs?: number;
}

export interface Delegation {
  readonly from: Party;
  readonly to: Party;
  readonly atMs: number;
}

/** The position of the checks, and the values that they read besides the answer. */
export interface AnswerChecksOf {
  readonly method: ProductionId;
  readonly versionId: VersionId;
  /** The path of the ask step in that version. */
  readonly path: string;
  /** Empty: before the run continues, only checks that read just the answer can be judged. */
  readonly scopeJson: string;
}

export interface AcceptedAnswer {
  readonly questionId: QuestionId;
  readonly step: string;
  /** The answer with its defaults. */
  readonly answerJson: string;
  /** Hex digest of the answer as the caller sent it. */
  readonly digest: string;
  /** The event that asked; absent in rows of releases that did not store it. */
  readonly asked?: { readonly seq: number; readonly atMs: number };
  /** May be absent for the same reason as `asked`. */
  readonly answeredAtMs?: number;
  /** In device mode: the question's deadline; absent: it had none. */
  readonly deadlineAtMs?: number;
  /** In device mode: the deadline passed, and the worker takes the answer from the source. `answerJson` is empty. */
  readonly timedOut?: true;
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
  /** An HTTP server's response besides its status; absent: none, as in records of earlier releases. */
  readonly reason?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

export function isFinished(run: Run): run is SucceededRun | FailedRun | CancelledRun {
  return isFinal(run.status);
}

export function isFinal(status: RunStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}
