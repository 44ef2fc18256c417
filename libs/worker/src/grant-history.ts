// Converts what a grant reports of the run's earlier attempts to the executor's form.
import type { FinishedStep } from '@methods/executor/run-options';
import type { RunErrorCode } from '@methods/executor/run-outcome';
import type { ErrorKind, StepError } from '@methods/executor/step-failure';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { StepStatus, type StepError as ToldError } from '@methods/proto/run/v1/run_pb';
import type { Grant } from '@methods/proto/worker/v1/worker_service_pb';

/** Keyed by path. */
export function finishedSteps(grant: Grant): Map<string, FinishedStep> {
  const finished = new Map<string, FinishedStep>();
  for (const { path, status: number, outJson, outWithheld: withheld, error } of grant.finishedSteps) {
    const status = statusOf(number);
    if (status === null) continue;
    const out = outJson === '' ? null : (JSON.parse(outJson) as JsonValue);
    finished.set(path, { status, out, withheld, ...(error && { error: errorOf(error) }) });
  }
  return finished;
}

function statusOf(status: StepStatus): FinishedStep['status'] | null {
  if (status === StepStatus.SUCCEEDED) return 'succeeded';
  if (status === StepStatus.SKIPPED) return 'skipped';
  if (status === StepStatus.RUNNING || status === StepStatus.WAITING) return 'running';
  return status === StepStatus.FAILED ? 'failed' : null;
}

function errorOf({ kind, message, status, line, reason, headers, body }: ToldError): StepError {
  const where = { ...(status > 0 && { status }), ...(line > 0 && { line }) };
  const said = reason === '' && body === '' && Object.keys(headers).length === 0 ? {} : { reason, headers, body };
  return { kind: kind as ErrorKind, message, ...where, ...said };
}

export function answerOf(grant: Grant) {
  if (grant.answer === undefined) return {};
  const { questionId, step, answerJson, timedOut } = grant.answer;
  const value = JSON.parse(answerJson || 'null') as JsonObject;
  return { answer: { questionId, step, value, ...(timedOut && { timedOut }) } };
}

export function endingOf({ ending }: Grant) {
  if (ending === undefined) return {};
  const { code, kind, message, step } = ending;
  const error = { code: code as RunErrorCode, kind: kind as ErrorKind, message, ...(step !== '' && { step }) };
  return { ending: error };
}
