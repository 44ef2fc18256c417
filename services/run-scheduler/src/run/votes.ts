// Counts the answers to a question that needs several people: each person's later answer replaces their earlier one, and
// the question is decided once enough different people agree.
import { canonicalJson } from '@methods/base/canonical';
import { type Channel, isSamePerson, type Party } from './party.ts';
import type { NeededVotes } from './policy.ts';

export interface Vote {
  readonly by: Party;
  readonly answerJson: string;
  readonly atMs: number;
  readonly channel: Channel | null;
  readonly comment: string;
}

export type Counted =
  | { readonly kind: 'open'; readonly votes: readonly Vote[] }
  /** `agreeing`: those who decided, in the order of their votes; the last one is the vote just counted. */
  | { readonly kind: 'decided'; readonly agreeing: readonly Vote[] }
  /** This person has given this answer. */
  | { readonly kind: 'repeated' }
  /** This person has answered through a link, which answers once. */
  | { readonly kind: 'final' }
  | { readonly kind: 'full' };

const VOTES_MAX = 100;
/** All of them are kept in the run's row, in characters. */
const SIZE_MAX = 512 * 1024;

export function countVote(votes: readonly Vote[], vote: Vote, { count, on }: NeededVotes): Counted {
  const earlier = votes.filter(({ by }) => isSamePerson(by, vote.by));
  if (earlier.some((other) => isSameVote(other, vote))) return { kind: 'repeated' };
  if (earlier.some(({ by }) => by.linkRecipient !== '')) return { kind: 'final' };
  const others = votes.filter((other) => !earlier.includes(other));
  const all = [...others, vote];
  const value = comparedValue(vote, on);
  const agreeing = all.filter((other) => comparedValue(other, on) === value);
  if (differentPeople(agreeing) >= count) return { kind: 'decided', agreeing };
  if (all.length > VOTES_MAX || sizeOfVotes(all) > SIZE_MAX) return { kind: 'full' };
  return { kind: 'open', votes: all };
}

/** In characters. */
export function sizeOfVotes(votes: readonly Vote[]): number {
  return votes.reduce((size, { answerJson, comment }) => size + answerJson.length + comment.length, 0);
}

function isSameVote(a: Vote, b: Vote): boolean {
  return a.comment === b.comment && canonicalJson(JSON.parse(a.answerJson)) === canonicalJson(JSON.parse(b.answerJson));
}

/** Two votes of other people may turn out to be of one: a recipient who became a member meanwhile. */
function differentPeople(votes: readonly Vote[]): number {
  const people: Party[] = [];
  for (const { by } of votes) if (!people.some((person) => isSamePerson(person, by))) people.push(by);
  return people.length;
}

function comparedValue({ answerJson }: Vote, on: readonly string[]): string {
  const answer = JSON.parse(answerJson) as Record<string, unknown>;
  if (on.length === 0) return canonicalJson(answer);
  // An absent field is different from one that is null.
  return canonicalJson(
    Object.fromEntries(on.flatMap((name) => (Object.hasOwn(answer, name) ? [[name, answer[name]]] : []))),
  );
}
