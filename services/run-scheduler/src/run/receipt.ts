// What a run stores of each accepted answer: who gave it, how and when, and the hashes of what was asked; and how the
// answers to a question that needs several people are counted.

import { canonicalJson } from '@methods/base/canonical';
import type { QuestionId } from '@methods/base/ids';
import { type Channel, isSamePerson, type Party } from './party.ts';
import type { NeededVotes } from './policy.ts';

export interface Receipt {
  readonly questionId: QuestionId;
  readonly step: string;
  /** Shortened to a line. */
  readonly prompt: string;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  /** null: unknown, or a time-out. */
  readonly by: Party | null;
  /** null: unknown. */
  readonly channel: Channel | null;
  readonly comment: string;
  /** Hex SHA-256; empty: asked by a release that did not store it. */
  readonly formSha256: string;
  readonly versionSha256: string;
  /** With defaults; empty: too large to be kept with the run. */
  readonly answerJson: string;
  /**
   * The votes of the people who decided together, without their values and with the beginning of their comments;
   * absent: one answer decided.
   */
  readonly votes?: readonly Omit<Vote, 'answerJson'>[];
}

/** A run keeps its newest ones in memory, and shows them. */
export const RECEIPTS_MAX = 100;
/** In characters. */
const SIZE_MAX = 512 * 1024;
const PROMPT_CHARACTERS_MAX = 500;
const ANSWER_CHARACTERS_MAX = 4_096;
const VOTE_COMMENT_CHARACTERS_MAX = 200;

/** The fields of an open question that a receipt names. */
interface AskedQuestion {
  readonly id: QuestionId;
  readonly step: string;
  readonly prompt: string;
  readonly askedAtMs: number;
  readonly formSha256?: string;
  readonly versionSha256?: string;
}

export interface GivenAnswer {
  readonly by: Party | null;
  readonly channel: Channel | null;
  readonly comment: string;
  readonly answerJson: string;
}

export function receiptOf(
  question: AskedQuestion,
  { by, channel, comment, answerJson }: GivenAnswer,
  agreeing: readonly Vote[],
  nowMs: number,
): Receipt {
  return {
    questionId: question.id,
    step: question.step,
    prompt: shortPrompt(question.prompt),
    askedAtMs: question.askedAtMs,
    answeredAtMs: nowMs,
    by,
    channel,
    comment,
    formSha256: question.formSha256 ?? '',
    versionSha256: question.versionSha256 ?? '',
    answerJson: answerJson.length > ANSWER_CHARACTERS_MAX ? '' : answerJson,
    ...(agreeing.length > 0 && { votes: agreeing.map(withoutValue) }),
  };
}

function withoutValue({ answerJson: _, comment, ...vote }: Vote): Omit<Vote, 'answerJson'> {
  return { ...vote, comment: comment.slice(0, VOTE_COMMENT_CHARACTERS_MAX) };
}

export function withReceipt(receipts: readonly Receipt[], receipt: Receipt): readonly Receipt[] {
  return newestReceipts([...receipts, receipt]);
}

/** Returns as many of the newest as a run keeps, the newest one last. */
export function newestReceipts(receipts: readonly Receipt[]): readonly Receipt[] {
  let size = 0;
  let from = receipts.length;
  while (from > 0 && receipts.length - from < RECEIPTS_MAX) {
    size += sizeOfReceipt(receipts[from - 1] as Receipt);
    if (size > SIZE_MAX) break;
    from--;
  }
  return receipts.slice(from);
}

/** The beginning of a prompt, for lists. */
export function shortPrompt(prompt: string): string {
  if (prompt.length <= PROMPT_CHARACTERS_MAX) return prompt;
  return [...prompt.slice(0, PROMPT_CHARACTERS_MAX)].slice(0, -1).join('').concat('…');
}

/** Returns the approximate size in memory, in characters. */
export function sizeOfReceipt({ comment, answerJson, prompt, votes = [] }: Receipt): number {
  return (
    500 + comment.length + answerJson.length + prompt.length + votes.reduce((n, v) => n + 200 + v.comment.length, 0)
  );
}

/**
 * Counts the answers to a question that needs several people: a person's later answer replaces their earlier one, and
 * the question is decided once enough different people agree.
 */
export interface Vote {
  readonly by: Party;
  readonly answerJson: string;
  readonly atMs: number;
  readonly channel: Channel | null;
  readonly comment: string;
}

type Counted =
  | { readonly kind: 'open'; readonly votes: readonly Vote[] }
  /** `agreeing`: the deciding votes in their order; the last one is the vote just counted. */
  | { readonly kind: 'decided'; readonly agreeing: readonly Vote[] }
  /** This person has already given this answer. */
  | { readonly kind: 'repeated' }
  /** This person has answered through a link, which answers once. */
  | { readonly kind: 'final' }
  | { readonly kind: 'full' };

const VOTES_MAX = 100;

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

/** Votes of different people may turn out to be of one person: a recipient who became a member meanwhile. */
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
