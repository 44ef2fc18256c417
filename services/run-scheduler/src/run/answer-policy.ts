// The rules of a question about the people who answer it, and what they say of one of them. Every channel meets these.
import { addressesOf, hasRole, isPerson, isRole, isSamePerson, type Party } from './party.ts';
import type { OpenQuestion, RunFacts } from './run.ts';

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
