// The moves of a waiting run that several commands share: its question changes, or gets its answer.
import { changed, type Decision } from './decision.ts';
import type { Effect } from './effect.ts';
import { askedBy, closeQuestion, endingAgain, leave } from './moves.ts';
import { isSamePerson, type Party } from './party.ts';
import { type GivenAnswer, receiptOf, withReceipt } from './receipt.ts';
import type { OpenQuestion, QueuedRun, WaitingRun } from './run.ts';
import type { Vote } from './votes.ts';

/** Waits on, with other people, votes or times of its question. */
export function withQuestion(run: WaitingRun, change: Partial<OpenQuestion>): WaitingRun {
  return { ...run, question: { ...run.question, askedSeq: askedBy(run).seq, ...change } };
}

/** Announces to a person that the question is theirs, unless they took it themselves. */
export function announceTo(to: Party, by: Party, nowMs: number): readonly Effect[] {
  if (isSamePerson(to, by)) return [];
  return [{ type: 'emit', event: 'question.assigned', follows: null, atMs: nowMs, assigned: { to, by } }];
}

/** The answer counts. `agreeing`: those who decided together, where several people were needed. */
export function acceptAnswer(
  run: WaitingRun,
  answer: GivenAnswer & { readonly digest: string },
  agreeing: readonly Vote[],
  nowMs: number,
): Decision {
  const { question } = run;
  const answered: QueuedRun = {
    ...leave(run, nowMs),
    status: 'queued',
    ending: endingAgain(run, nowMs),
    answer: {
      questionId: question.id,
      step: question.step,
      answerJson: answer.answerJson,
      digest: answer.digest,
      asked: askedBy(run),
      answeredAtMs: nowMs,
    },
    answers: withReceipt(run.answers, receiptOf(question, answer, agreeing, nowMs)),
  };
  return changed(answered, closeQuestion(run, 'answered'));
}
