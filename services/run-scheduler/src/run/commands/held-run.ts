// The commands of the worker that holds the run: its records, questions, sleeps and results, and its heartbeats.
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { askedCancel, emit, endingAgain, endLease, leave, toEnding, toFailed, toQueued } from '../moves.ts';
import { isRole } from '../party.ts';
import type { AnswerPolicy } from '../policy.ts';
import { fitsBeside } from '../recorded-size.ts';
import { admitContent, admitReport, holderOf } from '../reports.ts';
import type { Run, RunEnding, RunError, RunningRun } from '../run.ts';
import type { AskRun, FinishRun, GiveBackRun, HeartbeatRun, RecordStep, SleepRun } from '../run-command.ts';
import { withWaiting } from '../step-states.ts';

/**
 * Precondition: running, the right token, the next report. Records are accepted after a cancel was requested, since the
 * step did happen.
 */
export function recordStep(run: Run | null, command: RecordStep, nowMs: number): Decision {
  const admitted = admitContent(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const { step, seq, outJson, outWithheld, logTail } = command;
  const folderId = command.folderId ?? admitted.run.folderId;
  const before = admitted.run.steps.find((known) => known.path === step.path);
  const summary = { ...withWaiting(step, before, admitted.run.answer), attempt: admitted.run.attempts };
  // A step whose out was withheld runs again after a resume and replaces its first record.
  const others = admitted.run.steps.filter((known) => known.path !== step.path);
  if (!fitsBeside(others, summary)) return refused('too_much_recorded');
  return changed(
    { ...admitted.run, lastSeq: seq, folderId, steps: [...others, summary] },
    [],
    [{ seq, summary, outJson, outWithheld, logTail }],
  );
}

/**
 * Removes a time-out answer that a check of the run refused: it would be refused at every deadline. The deadline then
 * fails the question.
 */
function withoutRefused(running: Run, { policy, step }: AskRun): AnswerPolicy | undefined {
  if (policy?.timeoutAnswerJson == null) return policy;
  return wasRefused(running, step) ? { ...policy, timeoutAnswerJson: null } : policy;
}

/** Reports whether the step had its time-out answer already: it asks again because a check refused that. */
function wasRefused({ answers }: Pick<Run, 'answers'>, step: string): boolean {
  return answers.findLast((receipt) => receipt.step === step)?.channel === 'timeout';
}

/**
 * Precondition: running, the right token, the next report. The named folder is already stored. From here on no worker
 * holds the run. A run asked to cancel ends instead of asking.
 */
export function askRun(run: Run | null, command: AskRun, nowMs: number): Decision {
  const admitted = admitContent(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  if ((command.sealed === undefined) !== (admitted.run.facts.contentId === null)) return refused('not_sealed');
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const policy = withoutRefused(running, command);
  return changed(
    {
      status: 'waiting',
      question: {
        id: command.questionId,
        step: command.step,
        prompt: command.prompt,
        details: command.details,
        show: command.show,
        formJson: command.formJson,
        askedAtMs: nowMs,
        deadlineAtMs: command.deadlineAtMs ?? (command.timeoutMs === null ? null : nowMs + command.timeoutMs),
        timeoutText: command.timeoutText,
        ...(command.checks && { checks: command.checks }),
        // The revision of this change's commit.
        askedSeq: running.revision + 1,
        ...(command.formSha256 && { formSha256: command.formSha256 }),
        ...(command.versionSha256 && { versionSha256: command.versionSha256 }),
        ...(policy && { policy, ...onlyAddressOf(policy) }),
        ...(command.sealed !== undefined && { sealed: command.sealed }),
        ...(command.hasTimeoutAnswer && !wasRefused(running, command.step) && { hasTimeoutAnswer: true }),
      },
      ...leave(running, nowMs),
      folderId: command.folderId ?? running.folderId,
    },
    [...endLease(running), ...emit(running, 'needs_input')],
  );
}

/** A question to one person is assigned to them from the beginning. */
function onlyAddressOf({ to }: AnswerPolicy): { assignee: string } | null {
  const [only] = to;
  return only === undefined || to.length > 1 || isRole(only) ? null : { assignee: only };
}

/**
 * Precondition: running, the right token, the next report. The named folder is already stored. No worker holds the run
 * until its time has come; the attempt then continues. A run asked to cancel ends instead of sleeping.
 */
export function sleepRun(run: Run | null, command: SleepRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const folderId = command.folderId ?? running.folderId;
  return changed(
    { status: 'sleeping', wakeAtMs: nowMs + command.waitMs, ...leave(running, nowMs), folderId },
    endLease(running),
  );
}

/**
 * Precondition: running, the right token, the next report. A run asked to cancel ends as cancelled, with any report of
 * the worker.
 */
export function finishRun(run: Run | null, command: FinishRun, nowMs: number): Decision {
  const admitted = admitContent(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const { outcome } = command;
  if (running.ending?.kind === 'cleanup') {
    const end = toFailed(running, errorAfterCleanup(running, running.ending, outcome), nowMs);
    return changed(end.run, end.effects);
  }
  if (outcome.status === 'failed') {
    const error = asNoAnswer(running, outcome.error);
    const end = outcome.cleanupLeft ? toEnding(running, error, nowMs) : toFailed(running, error, nowMs);
    return changed(end.run, end.effects);
  }
  // The result of a run in device mode stays with its worker.
  const resultJson = running.facts.contentId === null ? outcome.resultJson : '';
  return changed({ status: 'succeeded', resultJson, ...leave(running, nowMs), ending: null }, [
    ...endLease(running),
    ...emit(running, 'succeeded'),
  ]);
}

/** The run keeps its error, even if its cleanup fails. The worker reports the error if steps had failed before. */
function errorAfterCleanup(run: RunningRun, { error }: RunEnding, outcome: FinishRun['outcome']): RunError {
  const isKept = outcome.status === 'failed' && run.steps.some(({ path }) => path === '@failure');
  return isKept ? outcome.error : error;
}

/** Workers of earlier releases do not know deadlines of questions: they report one as a failed step. */
function asNoAnswer(run: RunningRun, error: RunError): RunError {
  if (error.code !== 'step_failed' || error.kind !== 'timeout') return error;
  const asked = run.steps.find(({ path }) => path === error.step);
  return asked?.kind === 'ask' && asked.status === 'failed' ? { ...error, code: 'no_answer' } : error;
}

/**
 * Precondition: running, the right token, the next report. A worker that drains returns the run between two steps; the
 * attempt continues elsewhere and does not count again.
 */
export function giveBackRun(run: Run | null, command: GiveBackRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  return changed({ ...toQueued(running, nowMs), ending: endingAgain(running, nowMs) }, endLease(running));
}

/**
 * Precondition: running under this token. Renewing the lease only changes the owner's memory; the run itself changes
 * only when a cancel waits for this heartbeat.
 */
export function heartbeatRun(run: Run | null, command: HeartbeatRun, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  return askedCancel(running, nowMs) ?? unchanged;
}
