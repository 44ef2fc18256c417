// `--comment`: the text that a person gives beside an answer. A server keeps it with the answer.
import type { CommandLine } from '../command/command-line.ts';
import type { OptionWords } from '../command/command-words.ts';
import { UsageError } from '../errors/command-error.ts';

const CHARACTERS_MAX = 2_000;

export const COMMENT_OPTION = {
  comment: { value: 'TEXT', help: 'kept with the answer, for people; on a server only' },
} as const satisfies Readonly<Record<string, OptionWords>>;

/** As a part of the request. @throws UsageError */
export function commentOf(line: CommandLine): { readonly comment?: string } {
  const comment = line.text('comment');
  if (comment === undefined || comment === '') return {};
  if ([...comment].length > CHARACTERS_MAX) throw new UsageError(`a comment has at most ${CHARACTERS_MAX} characters`);
  return { comment };
}
