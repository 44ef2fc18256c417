// Changes of state that several commands share: leaving a state adds its span, entering one drops the fields of the
// other.
import { isForPeople } from './answerers.ts';
import {
  type ClosedQuestion,
  changed,
  type Decision,
  type EarlierEvent,
  type Effect,
  type NewStep,
  type RunEventName,
} from './decision.ts';
import type {
  CancelledRun,
  QueuedRun,
  Run,
  RunEnding,
  RunError,
  RunningRun,
  Spans,
  StepSummary,
  WaitingRun,
} from './run.ts';
import { lostStep } from './step-states.ts';

/** The time a failed run waits for a worker that cleans up. */
export const WORKER_WAIT_MS = 15 * 60_000;

/**
 * Returns the fields that every state has, with the span of the present state added. The fields of the next state are
 * written before these: after a copy each new one costs the engine microseconds.
 */
export function leave(run: Run, nowMs: number) {
  return {
    facts: run.facts,
    revision: run.revision,
    stateSinceMs: nowMs,
    startedAtMs: run.startedAtMs,
    spans: bookSpan(run, nowMs),
    attempts: run.attempts,
    attemptOpen: run.attemptOpen,
    token: run.token,
    returnedToken: run.returnedToken,
    lastSeq: run.lastSeq,
    steps: run.steps,
    answer: run.answer,
    answers: run.answers,
    folderId: run.folderId,
    ending: run.ending,
  };
}

/** Returns the spans with that of the present state. */
export function bookSpan(run: Run, nowMs: number): Spans {
  const spanMs = Math.max(0, nowMs - run.stateSinceMs);
  switch (run.status) {
    case 'queued':
      return { ...run.spans, queuedMs: run.spans.queuedMs + spanMs };
    case 'running':
      return { ...run.spans, runningMs: run.spans.runningMs + spanMs };
    case 'waiting':
    case 'sleeping':
      return { ...run.spans, waitingMs: run.spans.waitingMs + spanMs };
    default:
      return run.spans;
  }
}

export function toCancelled(run: Run, nowMs: number): { run: CancelledRun; effects: Effect[] } {
  return {
    run: { status: 'cancelled', ...leave(run, nowMs), ending: null },
    effects: [...endLease(run), ...closeQuestion(run, 'cancelled'), ...emit(run, 'cancelled')],
  };
}

export function toFailed(run: Run, error: RunError, nowMs: number): { run: Run; effects: Effect[] } {
  return {
    run: { status: 'failed', error, ...leave(run, nowMs), ending: null },
    effects: [...endLease(run), ...emit(run, 'failed')],
  };
}

/** The attempt was lost with its worker: another attempt follows, or the run has used all of them. */
export function attemptLost(run: RunningRun | QueuedRun, nowMs: number): { run: Run; effects: Effect[] } {
  // A cleanup is not begun again, since it may be why its workers ended.
  if (run.ending?.kind === 'cleanup') return toFailed(run, run.ending.error, nowMs);
  if (run.attempts < run.facts.maxAttempts) {
    return { run: { status: 'queued', ...leave(run, nowMs), attemptOpen: false }, effects: endLease(run) };
  }
  const message = `The worker was lost ${run.attempts} times.`;
  return toEnding(run, { code: 'attempts_exhausted', kind: 'worker_lost', message, step: lostStep(run) }, nowMs);
}

/** The run has failed: one more claim does its cleanup, if its version has such steps. */
export function toEnding(run: RunningRun | QueuedRun, error: RunError, nowMs: number): { run: Run; effects: Effect[] } {
  if (!run.facts.cleansUp) return toFailed(run, error, nowMs);
  const ending: RunEnding = { kind: 'cleanup', error, byMs: nowMs + WORKER_WAIT_MS };
  return { run: { status: 'queued', ...leave(run, nowMs), attemptOpen: true, ending }, effects: endLease(run) };
}

/** Queues the cleanup again, with new time for a worker to come. */
export function endingAgain({ ending }: Run, nowMs: number): RunEnding | null {
  return ending === null ? null : { ...ending, byMs: nowMs + WORKER_WAIT_MS };
}

/**
 * Counts an attempt as lost whose worker reports under a grant that counted as undelivered, after another grant has
 * followed: its work is done again. Null: nothing is left to count.
 */
export function returnedAttemptLost(run: Run, nowMs: number): { run: Run; effects: Effect[] } | null {
  if (run.ending?.kind === 'cleanup') return null;
  const counted = { ...run, attempts: run.attempts + 1, returnedToken: null };
  if (counted.status === 'queued' && !counted.attemptOpen) return attemptLost(counted, nowMs);
  if (counted.attempts <= run.facts.maxAttempts) return { run: counted, effects: [] };
  if (run.status !== 'running' || run.cancelRequested) return null;
  return attemptLost(run, nowMs);
}

/** Returns the run to the queue; the next claim continues this attempt. */
export function toQueued(run: RunningRun, nowMs: number): QueuedRun {
  return { status: 'queued', ...leave(run, nowMs), attemptOpen: true };
}

/** Returns the run with a step's record in place of an earlier one; null: unchanged. */
export function withStep<R extends Run>(run: R, step: StepSummary | null): R {
  return step === null ? run : { ...run, steps: [...run.steps.filter(({ path }) => path !== step.path), step] };
}

/** Returns the step to store, numbered after those that the run's worker reported. */
export function newSteps(run: Run, step: StepSummary | null): NewStep[] {
  if (step === null) return [];
  return [{ seq: run.lastSeq + 1, summary: step, outJson: null, outWithheld: false, logTail: null }];
}

export function endLease(run: Run): Effect[] {
  return run.status === 'running' ? [{ type: 'lease_ended', token: run.token }] : [];
}

/** `run` is the state before the change. The run's actor knows whether the event has a listener. */
export function emit(run: Run, event: RunEventName): Effect[] {
  return [{ type: 'emit', event, follows: lastQuestion(run) }];
}

/** `run` is the state before the change. */
export function closeQuestion(run: Run, reason: ClosedQuestion['reason']): Effect[] {
  if (run.status !== 'waiting') return [];
  const { question } = run;
  const isGiven = question.assignee !== undefined || question.delegations !== undefined;
  const askedPeople = isForPeople(question) || question.escalatedAtMs !== undefined || isGiven;
  const closed = { questionId: question.id, reason, askedPeople };
  return [{ type: 'emit', event: 'question.closed', follows: lastQuestion(run), closed }];
}

function lastQuestion(run: Run): EarlierEvent | null {
  return run.status === 'waiting' ? askedBy(run) : (run.answer?.asked ?? null);
}

/** Returns the event that asked. A question that has not changed since is as old as the run's revision. */
export function askedBy({ question, revision, stateSinceMs }: WaitingRun): EarlierEvent {
  return { seq: question.askedSeq ?? revision, atMs: stateSinceMs };
}

// Ends a run that was asked to cancel, at the first command that takes the run from its worker.

/** Returns null if it was not asked to. */
export function askedCancel(running: RunningRun, nowMs: number): Decision | null {
  if (!running.cancelRequested) return null;
  const end = toCancelled(running, nowMs);
  return changed(end.run, end.effects);
}
