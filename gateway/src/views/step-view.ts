// The steps of a run as callers see them: the recorded ones, and from the start on the others of the version.
import type { RunView, StepCheck, StepView } from '@methods/proto/run/v1/run_pb';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { jsonSpan, jsonString, jsonTime, textView } from './content-view.ts';

/** A top-level step as its version declares it. */
export interface DeclaredStep {
  readonly name: string;
  readonly kind: string;
}

const STATUS_NAMES: Record<StepStatus, string> = {
  [StepStatus.UNSPECIFIED]: 'pending',
  [StepStatus.PENDING]: 'pending',
  [StepStatus.RUNNING]: 'running',
  [StepStatus.WAITING]: 'waiting',
  [StepStatus.SUCCEEDED]: 'succeeded',
  [StepStatus.FAILED]: 'failed',
  [StepStatus.SKIPPED]: 'skipped',
  [StepStatus.CANCELLED]: 'cancelled',
};

export interface ShownStep {
  /** Unique within the run. */
  readonly path: string;
  readonly status: string;
  readonly json: string;
}

/**
 * Yields the entries of `steps` one by one, since a run may have 30,000. Each declared step is listed once in the
 * version's order, followed by the records below its path; without declared steps (the version could not be read) only
 * the recorded ones are listed.
 */
export function* shownSteps(run: RunView, declared: readonly DeclaredStep[], nowMs: number): Generator<ShownStep> {
  const recorded = new Map(run.steps.map((step) => [step.path, step]));
  // The cleanup of a failed run: a record for its workers.
  recorded.delete('@failure');
  const inside = stepsInside(recorded.values(), declared);
  const show = (step: StepView) => ({
    path: step.path,
    status: statusNow(step, run),
    json: recordedJson(step, run, nowMs),
  });
  // The method's own checks are listed where they were made: before the first step, and after the last.
  const required = recorded.get('@require');
  if (required && recorded.delete('@require')) yield show(required);
  let reached = true;
  for (const { name, kind } of declared) {
    const step = recorded.get(name);
    if (step) {
      yield show(step);
      recorded.delete(name);
      // A step that must not be repeated after the loss of its worker is recorded when it begins.
      if (isBegun(step)) reached = false;
    } else {
      const status = unrecordedStatus(run, name, reached);
      yield { path: name, status, json: unrecordedJson(name, kind, status, run, nowMs) };
      reached = false;
    }
    for (const inner of inside.get(name) ?? []) {
      if (recorded.delete(inner.path)) yield show(inner);
    }
  }
  for (const step of recorded.values()) yield show(step);
}

/** The recorded steps below the path of each declared one. */
function stepsInside(recorded: Iterable<StepView>, declared: readonly DeclaredStep[]): Map<string, StepView[]> {
  const inside = new Map<string, StepView[]>(declared.map(({ name }) => [name, []]));
  for (const step of recorded) {
    const end = step.path.search(BELOW);
    if (end >= 0) inside.get(step.path.slice(0, end))?.push(step);
  }
  return inside;
}

// `upsert[3]` and `classify/ticket` are below `upsert` and `classify`.
const BELOW = /[/[]/;

function isBelow(path: string, name: string): boolean {
  const next = path.charAt(name.length);
  return (next === '/' || next === '[') && path.startsWith(name);
}

function isIn(path: string, name: string): boolean {
  return path === name || isBelow(path, name);
}

/** `reached`: every step before this one has ended, so this is the run's current step. */
function unrecordedStatus(run: RunView, name: string, reached: boolean): string {
  switch (run.status) {
    case RunStatus.WAITING:
      return isIn(run.question?.step ?? '', name) ? 'waiting' : 'pending';
    case RunStatus.RUNNING:
      return reached ? 'running' : 'pending';
    case RunStatus.CANCELLED:
      return 'cancelled';
    case RunStatus.FAILED:
      return run.error !== undefined && isIn(run.error.step, name) ? 'failed' : 'skipped';
    case RunStatus.SUCCEEDED:
      return 'skipped';
    default:
      return 'pending';
  }
}

function unrecordedJson(name: string, kind: string, status: string, run: RunView, nowMs: number): string {
  const startedAtMs =
    status === 'waiting' ? (run.question?.askedAtMs ?? 0) : status === 'running' ? presentSinceMs(run) : 0;
  const openMs = startedAtMs > 0 ? Math.max(0, nowMs - startedAtMs) : 0;
  const [runningMs, waitingMs] = status === 'waiting' ? [0, openMs] : [openMs, 0];
  const attempt = status === 'running' || status === 'waiting' || status === 'failed' ? run.attempts : 0;
  return (
    `{"name":${jsonString(name)},"kind":${jsonString(kind)},"status":"${status}","attempt":${attempt},` +
    `"timing":{"started_at":${jsonTime(startedAtMs)},"finished_at":null,"running_ms":${jsonSpan(runningMs)},"waiting_ms":${jsonSpan(waitingMs)}},"checks":[]}`
  );
}

/** A step without a record began when the previous one ended, or when the run was claimed. */
function presentSinceMs({ timing, steps }: RunView): number {
  return steps.reduce((sinceMs, { finishedAtMs }) => Math.max(sinceMs, finishedAtMs), timing?.stateSinceMs ?? 0);
}

function recordedJson(step: StepView, run: RunView, nowMs: number): string {
  const status = statusNow(step, run);
  const openMs = step.finishedAtMs === 0 && step.startedAtMs > 0 ? Math.max(0, nowMs - openSinceMs(step, run)) : 0;
  const runningMs = step.runningMs + (status === 'running' ? openMs : 0);
  const waitingMs = step.waitingMs + (status === 'waiting' ? openMs : 0);
  return (
    `{"name":${jsonString(step.path)},"kind":${jsonString(step.kind)},"status":"${status}","attempt":${step.attempt},` +
    `"timing":{"started_at":${jsonTime(step.startedAtMs)},"finished_at":${jsonTime(step.finishedAtMs)},"running_ms":${jsonSpan(runningMs)},"waiting_ms":${jsonSpan(waitingMs)}},` +
    `"checks":[${step.checks.map((check) => checkJson(check, run)).join(',')}]${stepErrorJson(step, run)}}`
  );
}

/** When the step's present activity began: not before its run entered its present state. */
function openSinceMs(step: StepView, run: RunView): number {
  if (run.question?.step === step.path) return run.question.askedAtMs;
  return Math.max(step.startedAtMs, run.timing?.stateSinceMs ?? 0);
}

function isBegun({ status }: StepView): boolean {
  return status === StepStatus.RUNNING || status === StepStatus.WAITING;
}

/** A step recorded as begun ends with its run: its worker may be gone. */
function statusNow(step: StepView, run: RunView): string {
  if (isBegun(step) && run.status === RunStatus.WAITING && run.question?.step === step.path) return 'waiting';
  if (!isBegun(step) || run.status === RunStatus.RUNNING || run.status === RunStatus.WAITING || run.wakeAtMs > 0) {
    return STATUS_NAMES[step.status] ?? 'pending';
  }
  if (run.status === RunStatus.QUEUED) return 'pending';
  return run.status === RunStatus.FAILED && isIn(run.error?.step ?? '', step.path) ? 'failed' : 'cancelled';
}

function checkJson({ name, phase, status, message }: StepCheck, run: RunView): string {
  return JSON.stringify({ name, phase, status, ...textView(message, run) });
}

function stepErrorJson(step: StepView, run: RunView): string {
  const error = step.error;
  if (!error) return '';
  return `,"error":${JSON.stringify({
    kind: error.kind,
    ...textView(error.message, run),
    ...(error.status > 0 ? { status: error.status } : {}),
    ...(error.line > 0 ? { line: error.line } : {}),
    ...(error.reason === '' ? {} : { reason: error.reason }),
    ...(Object.keys(error.headers).length === 0 ? {} : { headers: error.headers }),
    ...(error.body === '' ? {} : { body: error.body }),
  })}`;
}
