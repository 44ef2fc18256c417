// The times of a question, and what a commit did to it.
import type { OpenQuestion, Run } from './run.ts';

/**
 * The times of an open question: its reminders, its escalation, and its deadline. One timer of the run serves all of
 * them.
 */
type DueTimer = 'deadline' | 'escalation' | 'reminder';

/** Returns null if nothing happens to the question by itself. */
export function nextTimeOf(question: OpenQuestion): number | null {
  const times = [question.deadlineAtMs, escalationAtMs(question), reminderAtMs(question)].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** Returns the most important timer that is due, without those that it makes pointless. */
export function dueTimer(question: OpenQuestion, nowMs: number): DueTimer | null {
  const isDue = (atMs: number | null) => atMs !== null && nowMs >= atMs;
  if (isDue(question.deadlineAtMs)) return 'deadline';
  if (isDue(escalationAtMs(question))) return 'escalation';
  return isDue(reminderAtMs(question)) ? 'reminder' : null;
}

/** Returns the reminders whose time has come. After an outage, missed ones count as one. */
export function remindersDue({ policy, askedAtMs }: OpenQuestion, nowMs: number): number {
  return policy?.remindMs.filter((afterMs) => nowMs >= askedAtMs + afterMs).length ?? 0;
}

/** Returns the earliest time at which the change from `before` to `after` was allowed; 0: any time. */
export function timerOf(before: Run | null, after: Run): number {
  if (before?.status !== 'waiting') return 0;
  const { question } = before;
  if (after.status === 'waiting' && after.question.id === question.id) {
    if (after.question.escalatedAtMs !== question.escalatedAtMs) return escalationAtMs(question) ?? 0;
    return (after.question.reminders ?? 0) > (question.reminders ?? 0) ? (reminderAtMs(question) ?? 0) : 0;
  }
  // Without a person's answer, only expiry ends a question; a cancel may come at any time.
  const given = after.answers.at(-1);
  const isAnswered = given?.questionId === question.id && given.channel !== 'timeout';
  return after.status === 'cancelled' || isAnswered ? 0 : (question.deadlineAtMs ?? 0);
}

function escalationAtMs({ policy, askedAtMs, escalatedAtMs }: OpenQuestion): number | null {
  return policy?.escalate == null || escalatedAtMs !== undefined ? null : askedAtMs + policy.escalate.afterMs;
}

function reminderAtMs({ policy, askedAtMs, reminders = 0 }: OpenQuestion): number | null {
  const afterMs = policy?.remindMs[reminders];
  return afterMs === undefined ? null : askedAtMs + afterMs;
}

/** How a commit ended the question of its run. */
export type QuestionEnd = 'answered' | 'expired' | 'cancelled';
export type QuestionEvent = QuestionEnd | 'asked' | 'changed' | 'reminded' | 'escalated';

interface QuestionChange {
  readonly event: QuestionEvent;
  /** The question as it is, or as it was when it ended. */
  readonly question: OpenQuestion;
}

const NONE: readonly QuestionChange[] = [];

/** In the order in which they happened. */
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
