// What a shell can complete: the commands, their words and their options, as the commands themselves say it.

import type { Command } from '../command/command.ts';
import { COMMON_OPTIONS } from '../command/command-line.ts';
import type { CommandWords } from '../command/command-words.ts';

/** A command of the program, loaded when it is needed. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export interface CompletionWords {
  readonly name: string;
  readonly summary: string;
  /** What its first operand may be, where that is one of some words: `create` of `keys`. */
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

/** Loads every command. */
export async function completionWords(commands: readonly ListedCommand[]): Promise<CompletionWords[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = await load();
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
