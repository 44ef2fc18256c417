// One page of a list, as a command's `--limit` and `--cursor` ask for it.

import type { CommandLine } from '../command/command-line.ts';
import type { OptionWords } from '../command/command-words.ts';
import { UsageError } from '../errors/command-error.ts';
import type { Output } from '../terminal/output.ts';
import type { Page, Query, ServerApi } from './server-api.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

export const PAGE_OPTIONS = {
  limit: { value: 'N', help: `the most to list, 1 to ${LIMIT_MAX}; default ${LIMIT_DEFAULT}` },
  cursor: { value: 'CURSOR', help: 'continue where another page ended' },
} as const satisfies Readonly<Record<string, OptionWords>>;

/** @throws UsageError */
export async function readPage<T>(
  api: ServerApi,
  path: string,
  line: CommandLine,
  query: Query = {},
): Promise<Page<T>> {
  const text = line.text('limit') ?? String(LIMIT_DEFAULT);
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > LIMIT_MAX) {
    throw new UsageError(`--limit is a number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = line.text('cursor');
  return api.page<T>(path, { ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
}

/** Prints how to get the next page, if there is one. */
export function noteMore({ next_cursor: cursor }: Page<unknown>, output: Output): void {
  if (cursor !== null) output.note(`There are more: --cursor ${cursor}`);
}
