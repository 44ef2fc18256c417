// What a run keeps of each accepted answer: who gave it, how and when, and the hashes of what was asked.
import type { QuestionId } from '@methods/base/ids';
import type { Channel, Party } from './party.ts';
import type { Vote } from './votes.ts';

export interface Receipt {
  readonly questionId: QuestionId;
  readonly step: string;
  /** Cut to a line. */
  readonly prompt: string;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  /** null: unknown, or a time-out. */
  readonly by: Party | null;
  /** null: unknown. */
  readonly channel: Channel | null;
  readonly comment: string;
  /** Hex SHA-256; empty: asked by a release that kept none. */
  readonly formSha256: string;
  readonly versionSha256: string;
  /** With defaults; empty: too large to stay with the run. */
  readonly answerJson: string;
  /** Of the people who decided together, without their values and with the beginning of their comments; absent: one answer
   * decided. */
  readonly votes?: readonly Omit<Vote, 'answerJson'>[];
}

/** A run keeps its newest ones in memory, and shows these. */
export const RECEIPTS_MAX = 100;
/** In characters. */
const SIZE_MAX = 512 * 1024;
const PROMPT_CHARACTERS_MAX = 500;
const ANSWER_CHARACTERS_MAX = 4_096;
const VOTE_COMMENT_CHARACTERS_MAX = 200;

/** An open question, as far as a receipt names it. */
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

/** As many of the newest as a run keeps, the last one at the end. */
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

/** About what it takes in memory, in characters. */
export function sizeOfReceipt({ comment, answerJson, prompt, votes = [] }: Receipt): number {
  return (
    500 + comment.length + answerJson.length + prompt.length + votes.reduce((n, v) => n + 200 + v.comment.length, 0)
  );
}
