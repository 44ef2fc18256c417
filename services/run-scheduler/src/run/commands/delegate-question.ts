// Precondition: waiting on this question, and the sender may answer it. The delegate may answer it too, and it is theirs
// from then on. No question comes back to a person who gave it away, and none goes to a starter who may not answer.
import { isStarter, mayAnswer } from '../answer-policy.ts';
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { announceTo, withQuestion } from '../moves-of-questions.ts';
import { isPerson, isSamePerson } from '../party.ts';
import type { Run } from '../run.ts';
import type { DelegateQuestion } from '../run-command.ts';

const DELEGATIONS_MAX = 20;

export function delegateQuestion(run: Run | null, { questionId, by, to }: DelegateQuestion, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'waiting') return refused('run_not_waiting');
  const { question, facts } = run;
  if (question.id !== questionId) return refused('question_changed');
  if (!isPerson(by) || !mayAnswer(facts, question, by)) return refused('not_an_answerer');
  const delegations = question.delegations ?? [];
  const last = delegations.at(-1);
  if (last !== undefined && isSamePerson(last.from, by) && isSamePerson(last.to, to)) return unchanged;
  if (question.policy?.notStarter && isStarter(facts, to)) return refused('delegate_is_starter');
  if (isSamePerson(by, to) || delegations.some(({ from }) => isSamePerson(from, to))) {
    return refused('delegate_has_delegated');
  }
  if (delegations.length >= DELEGATIONS_MAX) return refused('too_many_delegations');
  const more = [...delegations, { from: by, to, atMs: nowMs }];
  return changed(withQuestion(run, { delegations: more, assignee: to.personId }), announceTo(to, by, nowMs));
}
