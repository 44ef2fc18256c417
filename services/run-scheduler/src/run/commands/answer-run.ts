// Precondition: waiting on the named question, or on any when none is named. The same answer to the same question again
// changes nothing. Without a question's id a value equal to the last one is a repeat only when no question is open: two
// equal answers to two successive questions both count.
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { endingAgain, leave } from '../moves.ts';
import type { Run } from '../run.ts';
import type { AnswerRun } from '../run-command.ts';

export function answerRun(run: Run | null, command: AnswerRun, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') {
    return isRepeat(run, command) ? unchanged : refused('run_not_waiting');
  }
  if (command.questionId !== null && command.questionId !== run.question.id) {
    return isRepeat(run, command) ? unchanged : refused('question_changed');
  }
  return changed({
    ...leave(run, nowMs),
    status: 'queued',
    ending: endingAgain(run, nowMs),
    answer: {
      questionId: run.question.id,
      step: run.question.step,
      answerJson: command.answerJson,
      digest: command.digest,
      asked: { seq: run.revision, atMs: run.stateSinceMs },
      answeredAtMs: nowMs,
    },
  });
}

function isRepeat(run: Run, command: AnswerRun): boolean {
  if (run.answer === null || run.answer.digest !== command.digest) return false;
  return command.questionId === null || command.questionId === run.answer.questionId;
}
