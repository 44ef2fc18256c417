// A run whose version has steps for after a failure is queued with its step failed; any other fails.
// Precondition: waiting on this question, whose deadline has passed by the database's clock (the commit compares
// it once more with that clock, so a node's own can never fire early).
import { changed, type Decision, refused } from '../decision.ts';
import { endingAgain, leave, newSteps, toFailed, WORKER_WAIT_MS, withStep } from '../moves.ts';
import type { Run } from '../run.ts';
import type { ExpireQuestion } from '../run-command.ts';
import { endOfQuestion } from '../step-states.ts';

export function expireQuestion(run: Run | null, command: ExpireQuestion, nowMs: number): Decision {
  if (run?.status !== 'waiting' || run.question.id !== command.questionId) return refused('not_due');
  const { deadlineAtMs, timeoutText, step } = run.question;
  if (deadlineAtMs === null || nowMs < deadlineAtMs) return refused('not_due');
  const message = `No answer within ${timeoutText}`;
  const asked = endOfQuestion(run, 'failed', nowMs, { kind: 'timeout', message, status: 0, line: 0 });
  const error = { code: 'no_answer', kind: 'timeout', message, step };
  const failed = withStep(run, asked);
  if (run.ending?.kind === 'cleanup' || run.facts.cleansUp) {
    // A worker finds out whether the run outlives the failed step, and what follows.
    const ending = endingAgain(run, nowMs) ?? { kind: 'question', error, byMs: nowMs + WORKER_WAIT_MS };
    return changed({ ...leave(failed, nowMs), status: 'queued', ending }, [], newSteps(run, asked));
  }
  const end = toFailed(failed, error, nowMs);
  return changed(end.run, end.effects, newSteps(run, asked));
}
