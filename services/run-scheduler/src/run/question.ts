// The people of a question, its times, and what a commit did to it. Every channel meets these rules.
import { addressesOf, hasRole, isPerson, isRole, isSamePerson, type Party } from './party.ts';
import type { OpenQuestion, Run, RunFacts } from './run.ts';

/** A key may not answer such a question. */
export function isForPeople({ policy }: Pick<OpenQuestion, 'policy'>): boolean {
  return policy !== undefined && (policy.to.length > 0 || policy.notStarter || policy.needs !== null);
}

/** `by` is null for an answer of a gateway that names no sender: it counts as one of a program. */
export function mayAnswer(facts: Pick<RunFacts, 'starter'>, question: OpenQuestion, by: Party | null): boolean {
  if (!isForPeople(question)) {
    return by === null || by.role !== 'viewer' || isDelegate(question, by) || isEscalatedTo(question, by);
  }
  if (by === null || !isPerson(by)) return false;
  if (question.policy?.notStarter && isStarter(facts, by)) return false;
  return isAmong(question.policy?.to ?? [], by) || isDelegate(question, by) || isEscalatedTo(question, by);
}

export function isStarter({ starter }: Pick<RunFacts, 'starter'>, person: Party): boolean {
  return starter !== null && isSamePerson(starter, person);
}

/** A link was sent to its recipient because the question is for them: without names it may be used. */
function isAmong(to: readonly string[], person: Party): boolean {
  if (to.length > 0) return isNamed(to, person);
  return person.role === '' ? person.linkRecipient !== '' : hasRole(person, 'member');
}

function isNamed(to: readonly string[], person: Party): boolean {
  const addresses = addressesOf(person);
  return to.some((who) => (isRole(who) ? hasRole(person, who) : addresses.includes(who)));
}

function isEscalatedTo({ policy, escalatedAtMs }: OpenQuestion, person: Party): boolean {
  return escalatedAtMs !== undefined && isNamed(policy?.escalate?.to ?? [], person);
}

function isDelegate({ delegations = [] }: OpenQuestion, person: Party): boolean {
  return delegations.some(({ to }) => isSamePerson(to, person));
}

/**
 * The times of an open question: its reminders, its escalation, and its deadline. One timer of the run serves them all.
 */
type DueTimer = 'deadline' | 'escalation' | 'reminder';

/** Null: nothing happens to it by itself. */
export function nextTimeOf(question: OpenQuestion): number | null {
  const times = [question.deadlineAtMs, escalationAtMs(question), reminderAtMs(question)].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The most important one that is due: what it makes pointless is left out. */
export function dueTimer(question: OpenQuestion, nowMs: number): DueTimer | null {
  const isDue = (atMs: number | null) => atMs !== null && nowMs >= atMs;
  if (isDue(question.deadlineAtMs)) return 'deadline';
  if (isDue(escalationAtMs(question))) return 'escalation';
  return isDue(reminderAtMs(question)) ? 'reminder' : null;
}

/** Reminders whose time has come: after an outage, those missed are one. */
export function remindersDue({ policy, askedAtMs }: OpenQuestion, nowMs: number): number {
  return policy?.remindMs.filter((afterMs) => nowMs >= askedAtMs + afterMs).length ?? 0;
}

/** When the change from `before` to `after` was allowed to happen; 0: at any time. */
export function timerOf(before: Run | null, after: Run): number {
  if (before?.status !== 'waiting') return 0;
  const { question } = before;
  if (after.status === 'waiting' && after.question.id === question.id) {
    if (after.question.escalatedAtMs !== question.escalatedAtMs) return escalationAtMs(question) ?? 0;
    return (after.question.reminders ?? 0) > (question.reminders ?? 0) ? (reminderAtMs(question) ?? 0) : 0;
  }
  // Without a person's answer, only its expiry ends a question; a cancel may come at any time.
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

/** What a commit did to the question of its run. */
export type QuestionEnd = 'answered' | 'expired' | 'cancelled';
export type QuestionEvent = QuestionEnd | 'asked' | 'changed' | 'reminded' | 'escalated';

interface QuestionChange {
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
