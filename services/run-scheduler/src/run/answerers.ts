// Who may answer a question, and why another may not. Every channel meets these rules, and what people read before they
// answer is decided by them too.
import { addressesOf, hasRole, isPerson, isRole, isSamePerson, type Named, type Party } from './party.ts';
import type { OpenQuestion, RunFacts } from './run.ts';

/** What the rules read of a run and its open question: few fields, so that a row of a list keeps them. */
export interface Answerers {
  /** Addresses and roles; empty: every member. */
  readonly to: readonly string[];
  readonly notStarter: boolean;
  /** 0: one answer decides. */
  readonly needs: number;
  /** null where anyone may have started the run. */
  readonly starter: Named | null;
  /** Addresses and roles; empty until the question is escalated. */
  readonly escalatedTo: readonly string[];
  readonly delegates: readonly Named[];
  /** People who answered through a link, which answers once. */
  readonly voted: readonly Named[];
}

/** A viewer and a program may answer some questions; `voted` people have answered for good. */
export type AnswerRefusal = 'viewer' | 'program' | 'starter' | 'not_named' | 'voted';

export function answerersOf({ starter }: Pick<RunFacts, 'starter'>, question: OpenQuestion): Answerers {
  const { policy, delegations = [], votes = [], escalatedAtMs } = question;
  const notStarter = policy?.notStarter ?? false;
  return {
    to: policy?.to ?? [],
    notStarter,
    needs: policy?.needs?.count ?? 0,
    starter: notStarter && starter !== null ? namesOf(starter) : null,
    escalatedTo: escalatedAtMs === undefined ? [] : (policy?.escalate?.to ?? []),
    delegates: delegations.map(({ to }) => namesOf(to)),
    voted: votes.filter(({ by }) => by.linkRecipient !== '').map(({ by }) => namesOf(by)),
  };
}

/** A key may not answer such a question. */
export function isForPeople({ policy }: Pick<OpenQuestion, 'policy'>): boolean {
  return policy !== undefined && (policy.to.length > 0 || policy.notStarter || policy.needs !== null);
}

export function mayAnswer(facts: Pick<RunFacts, 'starter'>, question: OpenQuestion, by: Party | null): boolean {
  return whyNot(answerersOf(facts, question), by) === null;
}

/** Null: a new answer of this person counts. */
export function answerRefusal(answerers: Answerers, by: Party): AnswerRefusal | null {
  return whyNot(answerers, by) ?? (answerers.voted.some((other) => isSamePerson(other, by)) ? 'voted' : null);
}

export function isStarter({ starter }: Pick<RunFacts, 'starter'>, person: Party): boolean {
  return starter !== null && isSamePerson(starter, person);
}

/** `by` is null for an answer of a gateway that names no sender: it counts as one of a program. */
function whyNot(answerers: Answerers, by: Party | null): Exclude<AnswerRefusal, 'voted'> | null {
  const { to, notStarter, needs, starter, escalatedTo, delegates } = answerers;
  const isAdded = by !== null && (delegates.some((other) => isSamePerson(other, by)) || isNamed(escalatedTo, by));
  if (to.length === 0 && !notStarter && needs === 0) return by?.role !== 'viewer' || isAdded ? null : 'viewer';
  if (by === null || !isPerson(by)) return 'program';
  if (starter !== null && isSamePerson(starter, by)) return 'starter';
  if (isAdded || isAmong(to, by)) return null;
  return to.length === 0 && by.role === 'viewer' ? 'viewer' : 'not_named';
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

function namesOf({ personId, email, linkRecipient }: Party): Named {
  return { personId, email, linkRecipient };
}
