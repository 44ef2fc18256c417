// A time of a question has come: its people are reminded, more people may answer, or its deadline has passed. At the
// deadline it gets the answer of its source; without one, a run whose version has steps for after a failure is queued with
// its step failed, and any other fails.
// Precondition: waiting on this question, and the time has come by the database's clock (the commit compares it once more
// with that clock, so a node's own can never fire early).
import { changed, type Decision, refused } from '../decision.ts';
import { closeQuestion, endingAgain, leave, newSteps, toFailed, WORKER_WAIT_MS, withStep } from '../moves.ts';
import { acceptAnswer, withQuestion } from '../moves-of-questions.ts';
import { dueTimer, remindersDue } from '../question-timers.ts';
import type { Run, WaitingRun } from '../run.ts';
import type { ExpireQuestion } from '../run-command.ts';
import { endOfQuestion } from '../step-states.ts';

export function expireQuestion(run: Run | null, command: ExpireQuestion, nowMs: number): Decision {
  if (run?.status !== 'waiting' || run.question.id !== command.questionId) return refused('not_due');
  const { question } = run;
  switch (dueTimer(question, nowMs)) {
    case 'deadline':
      return atDeadline(run, nowMs);
    case 'escalation': {
      const escalated = withQuestion(run, { escalatedAtMs: nowMs, reminders: remindersDue(question, nowMs) });
      return changed(escalated, [{ type: 'emit', event: 'question.escalated', follows: null, atMs: nowMs }]);
    }
    case 'reminder': {
      const reminded = withQuestion(run, { reminders: remindersDue(question, nowMs) });
      return changed(reminded, [{ type: 'emit', event: 'question.reminded', follows: null, atMs: nowMs }]);
    }
    case null:
      return refused('not_due');
  }
}

function atDeadline(run: WaitingRun, nowMs: number): Decision {
  const { timeoutText, step, policy } = run.question;
  if (policy?.timeoutAnswerJson != null) return acceptAnswer(run, timeoutAnswer(policy.timeoutAnswerJson), [], nowMs);
  const message = `No answer within ${timeoutText}`;
  const asked = endOfQuestion(run, 'failed', nowMs, { kind: 'timeout', message, status: 0, line: 0 });
  const error = { code: 'no_answer', kind: 'timeout', message, step };
  const failed = withStep(run, asked);
  const closed = closeQuestion(run, 'expired');
  if (run.ending?.kind === 'cleanup' || run.facts.cleansUp) {
    // A worker finds out whether the run outlives the failed step, and what follows.
    const ending = endingAgain(run, nowMs) ?? { kind: 'question', error, byMs: nowMs + WORKER_WAIT_MS };
    return changed({ ...leave(failed, nowMs), status: 'queued', ending }, closed, newSteps(run, asked));
  }
  const end = toFailed(failed, error, nowMs);
  return changed(end.run, [...closed, ...end.effects], newSteps(run, asked));
}

/** No one sent it, so no one can repeat it. */
function timeoutAnswer(answerJson: string) {
  return { answerJson, digest: '', by: null, channel: 'timeout', comment: '' } as const;
}
