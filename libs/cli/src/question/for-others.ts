// Says that the reader may not answer a question, before its form is shown to them.
import { CommandError } from '../errors/command-error.ts';

export interface ForReader {
  readonly id: string;
  readonly state: 'open' | 'answered' | 'expired' | 'cancelled';
  /** Absent: a part of an earlier release is running. */
  readonly may_answer?: boolean;
  readonly refusal?: string;
}

const REFUSALS: Readonly<Record<string, string>> = {
  viewer: 'viewers answer only questions that name them',
  starter: 'it excludes the person who started the run',
  voted: 'you have answered it already through a link, which answers once',
};

/** Why the reader's answer to an open question would not count; null: it would, or the server decides when it comes. */
export function refusalWords({ state, may_answer: mayAnswer, refusal = '' }: ForReader): string | null {
  if (state !== 'open' || mayAnswer !== false) return null;
  return `you may not answer it: ${REFUSALS[refusal] ?? 'it is for other people'}`;
}

/** Before its form is shown to the person. @throws CommandError `not_an_answerer` */
export function refuseForOthers(item: ForReader): void {
  const words = refusalWords(item);
  if (words === null) return;
  throw new CommandError('not_an_answerer', words, { hint: `methods inbox show ${item.id}` });
}
