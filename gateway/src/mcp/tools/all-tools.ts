// The built-in tools, in the order in which clients show them.
import type { Tool } from '../tool.ts';
import { AUTHOR_TOOLS } from './author-tools.ts';
import { LANGUAGE_TOOLS } from './language-tools.ts';
import { EARLIER_NAMES, METHOD_TOOLS } from './method-tools.ts';
import { QUESTION_TOOLS } from './question-tools.ts';
import { RUN_TOOLS } from './run-tools.ts';

export const ALL_TOOLS: readonly Tool[] = [
  ...METHOD_TOOLS,
  ...AUTHOR_TOOLS,
  ...LANGUAGE_TOOLS,
  ...RUN_TOOLS,
  ...QUESTION_TOOLS,
  ...EARLIER_NAMES,
];

const BY_NAME = new Map(ALL_TOOLS.map((tool) => [tool.name, tool]));

export const TOOL_NAMES: ReadonlySet<string> = new Set(BY_NAME.keys());

export function toolNamed(name: string): Tool | undefined {
  return BY_NAME.get(name);
}
