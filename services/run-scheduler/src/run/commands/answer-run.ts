// Precondition: waiting on the named question, or on any when none is named, and the sender may answer it. The same answer
// to the same question again changes nothing. Without a question's id a value equal to the last one is a repeat only when
// no question is open: two equal answers to two successive questions both count. A question that needs several people
// waits on until enough of them agree.
import { isForPeople, mayAnswer } from '../answer-policy.ts';
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { acceptAnswer, withQuestion } from '../moves-of-questions.ts';
import type { Run } from '../run.ts';
import type { AnswerRun } from '../run-command.ts';
import { countVote } from '../votes.ts';

export function answerRun(run: Run | null, command: AnswerRun, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') {
    return isRepeat(run, command) ? unchanged : refused('run_not_waiting');
  }
  const { question } = run;
  if (command.questionId !== null && command.questionId !== question.id) {
    return isRepeat(run, command) ? unchanged : refused('question_changed');
  }
  const { answerJson, by, channel, comment } = command;
  // A chat's link is its channel's, not a person's.
  const isPersons = channel !== 'chat' || !isForPeople(question);
  if (!isPersons || !mayAnswer(run.facts, question, by)) return refused('not_an_answerer');
  const needs = question.policy?.needs ?? null;
  if (needs === null || by === null) return acceptAnswer(run, command, [], nowMs);
  const counted = countVote(question.votes ?? [], { by, answerJson, atMs: nowMs, channel, comment }, needs);
  switch (counted.kind) {
    case 'open':
      return changed(withQuestion(run, { votes: counted.votes }));
    case 'decided':
      return acceptAnswer(run, command, counted.agreeing, nowMs);
    case 'repeated':
      return unchanged;
    case 'final':
      return refused('vote_final');
    case 'full':
      return refused('too_many_votes');
  }
}

function isRepeat(run: Run, command: AnswerRun): boolean {
  if (run.answer === null || run.answer.digest !== command.digest) return false;
  return command.questionId === null || command.questionId === run.answer.questionId;
}
