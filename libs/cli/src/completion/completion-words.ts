// The words a shell can complete: the commands, their words and their options, as the commands themselves describe
// them.

import { COMMON_OPTIONS } from '../command/command-line.ts';
import type { CommandHelp, CommandWords } from '../command/command-words.ts';

/** A command of the program, loaded when it is needed. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  /** Only its words, where its work takes long to load. */
  readonly words?: () => Promise<CommandHelp>;
  readonly load: () => Promise<CommandHelp>;
}

export interface CompletionWords {
  readonly name: string;
  readonly summary: string;
  /** The words its first operand may be, if that is one of some words: `create` of `keys`. */
  readonly words: readonly string[];
  readonly options: readonly CompletionOption[];
}

export interface CompletionOption {
  /** `--name`. */
  readonly long: string;
  /** `-n`. */
  readonly short: string | null;
  readonly takesValue: boolean;
  readonly help: string;
}

/** Loads the description of every command. */
export async function completionWords(commands: readonly ListedCommand[]): Promise<CompletionWords[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load, words = load }) => {
      const command = await words();
      return { name, summary, words: firstWords(command), options: optionsOf(command) };
    }),
  );
}

/** `create --name NAME | list | revoke KEY_ID` begins with one of three words; FILE is none. */
function firstWords({ usage }: CommandWords): string[] {
  return usage
    .split('|')
    .map((alternative) => alternative.trim().split(/\s/)[0] ?? '')
    .filter((word) => /^[a-z][a-z-]*$/.test(word));
}

function optionsOf({ options }: CommandWords): CompletionOption[] {
  return Object.entries({ ...options, ...COMMON_OPTIONS }).map(([name, { short, value, help }]) => ({
    long: `--${name}`,
    short: short === undefined ? null : `-${short}`,
    takesValue: value !== undefined,
    help,
  }));
}
