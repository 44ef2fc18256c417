// Derives the states of a run's steps: each record in the run's present state, and the steps that are known only from
// the run's question or answer. The run, not the worker, keeps the waiting time of a step.
import type { AcceptedAnswer, Run, RunError, StepError, StepSummary } from './run.ts';
import { isFinished } from './run.ts';

/** Returns all known steps of the run. The totals of a running step are those of its finished spans. */
export function stepsOf(run: Run): readonly StepSummary[] {
  const steps = run.steps.map((step) => stateOf(step, run));
  const asked = askedStep(run);
  return asked === null || steps.some(({ path }) => path === asked.path) ? steps : [...steps, stateOf(asked, run)];
}

function isBegun({ status }: Pick<StepSummary, 'status'>): boolean {
  return status === 'running' || status === 'waiting';
}

/** Returns a record of the step's end with its earlier waiting time: for its answer, or until its time came. */
export function withWaiting(step: StepSummary, before: StepSummary | undefined, answer: AcceptedAnswer | null) {
  if (isBegun(step)) return step;
  if (answer?.step === step.path && answer.asked !== undefined && answer.answeredAtMs !== undefined) {
    const { asked, answeredAtMs } = answer;
    const askedAtMs = asked.atMs;
    const startedAtMs = Math.min(step.startedAtMs, before?.startedAtMs ?? askedAtMs, askedAtMs);
    const finishedAtMs = Math.max(step.finishedAtMs, answeredAtMs);
    return { ...step, startedAtMs, finishedAtMs, waitingMs: answeredAtMs - askedAtMs };
  }
  if (step.kind === 'wait') {
    const startedAtMs = Math.min(step.startedAtMs, before?.startedAtMs ?? step.startedAtMs);
    return { ...step, startedAtMs, runningMs: 0, waitingMs: Math.max(0, step.finishedAtMs - startedAtMs) };
  }
  if (before?.status !== 'waiting') return step;
  // The delay before a round.
  const waitingMs = Math.max(0, step.startedAtMs - before.startedAtMs);
  return { ...step, startedAtMs: Math.min(step.startedAtMs, before.startedAtMs), waitingMs };
}

/** Returns the end, without an answer, of the step that waits for the run's answer. Null: the run asks nothing. */
export function endOfQuestion(run: Run, status: 'failed' | 'cancelled', nowMs: number, error: StepError | null) {
  const asked = run.status === 'waiting' ? askedStep(run) : null;
  if (asked === null) return null;
  const waitingMs = Math.max(0, nowMs - (run.status === 'waiting' ? run.question.askedAtMs : nowMs));
  return { ...asked, status, finishedAtMs: nowMs, waitingMs, error } satisfies StepSummary;
}

/** Returns the innermost step that ran last when its worker was lost; empty: none had run long enough to be known. */
export function lostStep(run: Run): string {
  const begun = run.steps.filter(isBegun);
  const innermost = begun.filter(({ path }) => !begun.some((other) => isBelow(other.path, path)));
  return (innermost.findLast(({ status }) => status === 'running') ?? innermost.at(-1))?.path ?? '';
}

function askedStep(run: Run): StepSummary | null {
  const known = (path: string) => run.steps.find((step) => step.path === path);
  if (run.status === 'waiting') {
    const { step: path, askedAtMs } = run.question;
    return begunStep(run, path, known(path)?.startedAtMs ?? askedAtMs, { kind: known(path)?.kind, status: 'waiting' });
  }
  const { answer } = run;
  if (answer?.asked === undefined || answer.answeredAtMs === undefined || known(answer.step)) return null;
  const step = begunStep(run, answer.step, answer.asked.atMs, { status: 'running' });
  return { ...step, waitingMs: answer.answeredAtMs - answer.asked.atMs };
}

function begunStep(
  run: Run,
  path: string,
  startedAtMs: number,
  { kind = 'ask', status }: { kind?: string | undefined; status: 'running' | 'waiting' },
): StepSummary {
  const spans = { startedAtMs, finishedAtMs: 0, runningMs: 0, waitingMs: 0 };
  return { path, kind, status, attempt: run.attempts, ...spans, checks: [], error: null };
}

/** A begun step ends as its run does. */
function stateOf(step: StepSummary, run: Run): StepSummary {
  if (!isBegun(step)) return step;
  if (run.status === 'waiting' || run.status === 'sleeping') return { ...step, status: 'waiting' };
  const isOver = run.ending?.kind === 'cleanup' && !isOfCleanup(step.path);
  if (!isFinished(run) && !isOver) return step;
  const error = run.status === 'failed' ? run.error : (run.ending?.error ?? null);
  const failed = error !== null && (error.step === step.path || isBelow(error.step, step.path));
  const finishedAtMs = Math.max(run.stateSinceMs, step.startedAtMs);
  const openMs = Math.max(0, finishedAtMs - step.startedAtMs - step.waitingMs - step.runningMs);
  const waits = step.status === 'waiting' || step.kind === 'ask';
  return {
    ...step,
    status: failed ? 'failed' : 'cancelled',
    finishedAtMs,
    // A step runs no longer than its run.
    runningMs: waits ? step.runningMs : step.runningMs + Math.min(openMs, run.spans.runningMs),
    waitingMs: step.status === 'waiting' ? step.waitingMs + openMs : step.waitingMs,
    error: step.error ?? (failed ? stepError(error) : null),
  };
}

function isOfCleanup(path: string): boolean {
  return /(?:^|\/)(?:on_failure|finally)\/|@failure$/.test(path);
}

function stepError({ kind, message }: RunError): StepError {
  return { kind, message, status: 0, line: 0 };
}

/** `upsert[3]` and `classify/ticket` are below `upsert` and `classify`. */
function isBelow(path: string, name: string): boolean {
  const next = path.charAt(name.length);
  return name !== '' && (next === '/' || next === '[') && path.startsWith(name);
}
