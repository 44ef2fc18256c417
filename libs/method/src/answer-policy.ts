// Owns the rules of who answers a question and when: the optional keys of an ask step, as literals.
import type { JsonObject } from './json.ts';

/** The feature of versions whose questions have a policy: earlier workers cannot read their sources. */
export const ANSWER_POLICIES = 'answer_policies';

/** The roles of people in an organization, the one with the most rights first. */
export const ROLES = ['admin', 'member', 'viewer'] as const;

/** In `to`, and again in that of `escalate`. */
export const ANSWERERS_MAX = 50;

export interface AnswerPolicy {
  /** E-mail addresses in lower case, and roles. Empty: all who may answer questions. */
  readonly to: readonly string[];
  /** The person who started the run may not answer. */
  readonly notStarter: boolean;
  readonly needs: NeededAnswers | null;
  /** Times after the question, rising. */
  readonly remindMs: readonly number[];
  readonly escalate: { readonly afterMs: number; readonly to: readonly string[] } | null;
  /** The answer once the deadline has passed, with its defaults; null: the run fails. */
  readonly timeoutAnswer: JsonObject | null;
}

/** The answer counts once this many different people gave the same one. */
export interface NeededAnswers {
  readonly count: number;
  /** The fields that must be the same; empty: all of them. */
  readonly on: readonly string[];
}

/** The message of M522: the people who may answer are counted from the source, or in an organization. */
export function tooFewText(needed: number, people: number): string {
  const who = people === 0 ? 'no person' : people === 1 ? 'only 1 person' : `only ${people} people`;
  return `the question needs the same answer of ${needed} people, and ${who} may answer it`;
}
