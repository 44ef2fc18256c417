// Converts the executor's steps and questions to messages for the run-scheduler.
import { canonicalDigest } from '@methods/base/canonical';
import type { FolderId } from '@methods/base/ids';
import type { RunQuestion, StepEnd } from '@methods/executor/run-outcome';
import { textEnd } from '@methods/method/cut-text';
import type { JsonObject } from '@methods/method/json';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';
import type { WorkerItem } from './scheduler-link.ts';

/** The fields that identify the grant in every report. */
type HeldGrant = Pick<Grant, 'runId' | 'token' | 'attempt'>;

const STEP_STATUS = {
  succeeded: StepStatus.SUCCEEDED,
  failed: StepStatus.FAILED,
  skipped: StepStatus.SKIPPED,
} as const;

/**
 * Reports that a step begins. `checkpoint` is what a resumed run needs to know about it. Without running code the step
 * is shown as waiting.
 */
export function stepStartedItem(
  grant: HeldGrant,
  seq: number,
  begun: { path: string; kind: string; checkpoint?: JsonObject; atMs: number },
): WorkerItem {
  const { path, kind, checkpoint, atMs } = begun;
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    step: {
      path,
      kind,
      status: kind === 'wait' || checkpoint?.delay_until ? StepStatus.WAITING : StepStatus.RUNNING,
      attempt: grant.attempt,
      startedAtMs: atMs,
    },
    outJson: checkpoint === undefined ? '' : JSON.stringify(checkpoint),
  };
  return { item: { case: 'stepRecord', value } };
}

/** The server keeps only the end of a step's log. */
const LOG_TAIL_CHARACTERS = 4_096;

export function stepRecordItem(grant: HeldGrant, seq: number, end: StepEnd, folderId: FolderId | ''): WorkerItem {
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    step: {
      path: end.path,
      kind: end.kind,
      status: STEP_STATUS[end.status],
      attempt: grant.attempt,
      startedAtMs: end.startedAtMs,
      finishedAtMs: end.finishedAtMs,
      runningMs: end.finishedAtMs - end.startedAtMs,
      checks: end.checks.map(({ name, phase, status, message }) => ({ name, phase, status, message: message ?? '' })),
      ...(end.error === null ? {} : { error: stepError(end.error) }),
    },
    outJson: end.outJson,
    outWithheld: end.withheld,
    logTail: logTailOf(end),
    folderId,
  };
  return { item: { case: 'stepRecord', value } };
}

/** Postgres text cannot hold NUL: a record with one would be refused on every repeat. */
function logTailOf({ log }: StepEnd): string {
  return log === null ? '' : textEnd(log.text, LOG_TAIL_CHARACTERS).replaceAll('\u0000', '\ufffd');
}

function stepError(error: NonNullable<StepEnd['error']>) {
  return {
    kind: error.kind,
    message: error.message,
    status: error.status ?? 0,
    line: error.line ?? 0,
    reason: error.reason ?? '',
    headers: Object.fromEntries(Object.entries(error.headers ?? {}).map(([name, value]) => [name, String(value)])),
    body: error.body ?? '',
  };
}

export function askItem(grant: HeldGrant, seq: number, question: RunQuestion, folderId: FolderId | ''): WorkerItem {
  const form = sentForm(question.form);
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    question: {
      step: question.step,
      prompt: question.prompt,
      details: question.details ?? '',
      show: question.show.map(({ path, value: shown }) => ({ path, valueJson: JSON.stringify(shown) })),
      formJson: form.json,
    },
    timeoutMs: question.timeoutMs ?? 0,
    timeoutText: question.timeoutText ?? '',
    folderId,
    formSha256: form.sha256,
    ensureScopeJson: question.ensureScope === undefined ? '' : JSON.stringify(question.ensureScope),
  };
  return { item: { case: 'ask', value } };
}

interface SentForm {
  readonly json: string;
  readonly sha256: string;
}

/** Caches a prepared version's encoded forms for all of its runs. */
const sentForms = new WeakMap<RunQuestion['form'], SentForm>();

function sentForm(form: RunQuestion['form']): SentForm {
  const known = sentForms.get(form);
  if (known !== undefined) return known;
  const sent = { json: JSON.stringify(form), sha256: canonicalDigest(form).toString('hex') };
  sentForms.set(form, sent);
  return sent;
}

export function sleepItem(grant: HeldGrant, seq: number, waitMs: number, folderId: FolderId | ''): WorkerItem {
  const { runId, token } = grant;
  return { item: { case: 'sleep', value: { runId, token, seq, waitMs: Math.max(1, waitMs), folderId } } };
}

export interface FailureMessage {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly step?: string | undefined;
}

export function failedItem(grant: HeldGrant, seq: number, error: FailureMessage, cleanupLeft = false): WorkerItem {
  const { code, kind, message, step = '' } = error;
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    status: RunStatus.FAILED,
    error: { code, kind, message, step },
    cleanupLeft,
  };
  return { item: { case: 'finish', value } };
}

export function succeededItem(grant: HeldGrant, seq: number, resultJson: string): WorkerItem {
  const value = { runId: grant.runId, token: grant.token, seq, status: RunStatus.SUCCEEDED, resultJson };
  return { item: { case: 'finish', value } };
}

export function giveBackItem(grant: HeldGrant, seq: number, reason: string): WorkerItem {
  return { item: { case: 'giveBack', value: { runId: grant.runId, token: grant.token, seq, reason } } };
}
