// What the executor says of steps and questions, as messages for the run-scheduler.
import type { RunQuestion, StepEnd } from '@methods/executor/run-outcome';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import type { HeldGrant } from './held-run.ts';
import type { WorkerItem } from './scheduler-link.ts';

const STEP_STATUS = {
  succeeded: StepStatus.SUCCEEDED,
  failed: StepStatus.FAILED,
  skipped: StepStatus.SKIPPED,
} as const;

/** The server keeps the end of a step's log, not all of it. */
const LOG_TAIL_CHARACTERS = 4_096;

export function stepRecordItem(grant: HeldGrant, seq: number, end: StepEnd, folderId: string): WorkerItem {
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
    logTail: end.log?.text.slice(-LOG_TAIL_CHARACTERS) ?? '',
    folderId,
  };
  return { item: { case: 'stepRecord', value } };
}

function stepError(error: NonNullable<StepEnd['error']>) {
  return {
    kind: error.kind,
    message: error.message,
    status: error.status ?? 0,
    line: error.line ?? 0,
  };
}

export function askItem(grant: HeldGrant, seq: number, question: RunQuestion, folderId: string): WorkerItem {
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    question: {
      step: question.step,
      prompt: question.prompt,
      details: question.details ?? '',
      show: question.show.map(({ path, value: shown }) => ({ path, valueJson: JSON.stringify(shown) })),
      formJson: JSON.stringify(question.form),
    },
    timeoutMs: question.timeoutMs ?? 0,
    timeoutText: question.timeoutText ?? '',
    folderId,
  };
  return { item: { case: 'ask', value } };
}

export interface FailureMessage {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly step?: string | undefined;
}

export function failedItem(grant: HeldGrant, seq: number, error: FailureMessage): WorkerItem {
  const { code, kind, message, step = '' } = error;
  const value = {
    runId: grant.runId,
    token: grant.token,
    seq,
    status: RunStatus.FAILED,
    error: { code, kind, message, step },
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
