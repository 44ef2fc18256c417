// Precondition: running, the right token, the next report. A run asked to cancel ends cancelled, with any report of the
// worker.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision } from '../decision.ts';
import { emit, endLease, leave, toEnding, toFailed } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run, RunEnding, RunError, RunningRun } from '../run.ts';
import type { FinishRun } from '../run-command.ts';

export function finishRun(run: Run | null, command: FinishRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
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
  return changed({ ...leave(running, nowMs), ending: null, status: 'succeeded', resultJson: outcome.resultJson }, [
    ...endLease(running),
    ...emit(running, 'succeeded'),
  ]);
}

/** The run's error stays, even if its cleanup fails. Its worker reports it where steps had failed before. */
function errorAfterCleanup(run: RunningRun, { error }: RunEnding, outcome: FinishRun['outcome']): RunError {
  const isKept = outcome.status === 'failed' && run.steps.some(({ path }) => path === '@failure');
  return isKept ? outcome.error : error;
}

/** Workers of earlier releases know no deadline of a question: to them it is a step that failed. */
function asNoAnswer(run: RunningRun, error: RunError): RunError {
  if (error.code !== 'step_failed' || error.kind !== 'timeout') return error;
  const asked = run.steps.find(({ path }) => path === error.step);
  return asked?.kind === 'ask' && asked.status === 'failed' ? { ...error, code: 'no_answer' } : error;
}
