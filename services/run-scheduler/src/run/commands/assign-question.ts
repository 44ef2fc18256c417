// Precondition: waiting on this question. A member, or a person who may answer, gives it to one who may answer, or to no
// one. It stays open to all who may answer.
import { mayAnswer } from '../answer-policy.ts';
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { announceTo, withQuestion } from '../moves-of-questions.ts';
import { hasRole } from '../party.ts';
import type { OpenQuestion, Run } from '../run.ts';
import type { AssignQuestion } from '../run-command.ts';

export function assignQuestion(run: Run | null, { questionId, by, assignee }: AssignQuestion, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') return refused('run_not_waiting');
  const { question, facts } = run;
  if (question.id !== questionId) return refused('question_changed');
  if (!hasRole(by, 'member') && !mayAnswer(facts, question, by)) return refused('not_an_answerer');
  if (assignee === null) {
    if (question.assignee === undefined) return unchanged;
    const { assignee: _, ...unassigned }: OpenQuestion = withQuestion(run, {}).question;
    return changed({ ...run, question: unassigned });
  }
  if (!mayAnswer(facts, question, assignee)) return refused('assignee_may_not_answer');
  return question.assignee === assignee.personId
    ? unchanged
    : changed(withQuestion(run, { assignee: assignee.personId }), announceTo(assignee, by, nowMs));
}
