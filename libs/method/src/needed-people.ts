// Owns the comparison of `needs` with the people of an organization (M522): who may answer is known only where its members
// are.
import { ROLES, tooFewText } from './answer-policy.ts';
import type { CompiledMethod, CompiledStep } from './compiled-method.ts';
import type { Diagnostic, SourcePlace } from './diagnostic.ts';

/** A question that several people decide. */
export interface NeededPeople {
  /** Addresses in lower case, and roles; those of the escalation too. */
  readonly who: readonly string[];
  readonly count: number;
  readonly place: SourcePlace;
}

export type Role = (typeof ROLES)[number];

/** A member who may be counted. */
export interface CountedMember {
  readonly role: Role;
  /** In lower case, if the issuer verified it; else empty. */
  readonly email: string;
}

/** Without `to`. */
const ANSWERERS: readonly Role[] = ['member'];

/** The questions of a method whose people have to be counted. Those of fewer addresses have the warning already. */
export function neededPeople(method: CompiledMethod): NeededPeople[] {
  const needed: NeededPeople[] = [];
  const visit = (step: CompiledStep): void => {
    if (step.kind === 'steps' || step.kind === 'parallel') step.steps.forEach(visit);
    if (step.kind !== 'ask' || !step.policy?.needs || step.needsAt === null || step.policy.needs.count < 2) return;
    const { to, escalate, needs } = step.policy;
    const who = answerers(to, escalate?.to ?? []);
    if (who.some(isRole) || new Set(who).size >= needs.count)
      needed.push({ who, count: needs.count, place: step.needsAt });
  };
  for (const steps of [method.steps, method.onFailure, method.finally]) steps.forEach(visit);
  return needed;
}

/** The warning, unless enough of the members may answer. A role names those who have it or a higher one. */
export function tooFewPeople(
  { who, count, place }: NeededPeople,
  members: readonly CountedMember[],
): Diagnostic | null {
  const people = countOf(who, members);
  if (people >= count) return null;
  const hint = 'add people to to, or need fewer';
  return { code: 'M522', severity: 'warning', message: tooFewText(count, people), ...place, hint };
}

/** How many of the members may answer a question to these people, once it is escalated too. */
export function peopleWhoMay(to: readonly string[], escalateTo: readonly string[], members: readonly CountedMember[]) {
  return countOf(answerers(to, escalateTo), members);
}

function answerers(to: readonly string[], escalateTo: readonly string[]): string[] {
  return [...(to.length === 0 ? ANSWERERS : to), ...escalateTo];
}

function countOf(who: readonly string[], members: readonly CountedMember[]): number {
  const lowest = Math.max(-1, ...who.filter(isRole).map((role) => ROLES.indexOf(role)));
  // A page of the Inbox has 200 questions, and an organization 1,000 members.
  const named = new Set(who);
  return members.filter(({ role, email }) => ROLES.indexOf(role) <= lowest || named.has(email)).length;
}

function isRole(word: string): word is Role {
  return ROLES.some((role) => role === word);
}
