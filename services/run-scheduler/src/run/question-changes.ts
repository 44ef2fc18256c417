// What a commit did to the question of its run.
import type { OpenQuestion, Run } from './run.ts';

export type QuestionEnd = 'answered' | 'expired' | 'cancelled';
export type QuestionEvent = QuestionEnd | 'asked' | 'changed' | 'reminded' | 'escalated';

export interface QuestionChange {
  readonly event: QuestionEvent;
  /** As it is, or as it was when it ended. */
  readonly question: OpenQuestion;
}

const NONE: readonly QuestionChange[] = [];

/** In their order. */
export function questionChanges(before: Run | null, after: Run): readonly QuestionChange[] {
  const was = openQuestionOf(before);
  const is = openQuestionOf(after);
  if (was === is) return NONE;
  if (was !== null && was.id === is?.id) return [{ event: changeOf(was, is), question: is }];
  return [
    ...(was === null ? [] : [{ event: endOf(was, after), question: was }]),
    ...(is === null ? [] : [{ event: 'asked' as const, question: is }]),
  ];
}

export function openQuestionOf(run: Run | null): OpenQuestion | null {
  return run?.status === 'waiting' ? run.question : null;
}

/** `after`: the run, which no longer waits on the question. */
export function endOf(question: OpenQuestion, after: Run): QuestionEnd {
  if (after.answers.at(-1)?.questionId === question.id) return 'answered';
  return after.status === 'cancelled' ? 'cancelled' : 'expired';
}

function changeOf(was: OpenQuestion, is: OpenQuestion): QuestionEvent {
  if (was.escalatedAtMs !== is.escalatedAtMs) return 'escalated';
  return (is.reminders ?? 0) > (was.reminders ?? 0) ? 'reminded' : 'changed';
}
