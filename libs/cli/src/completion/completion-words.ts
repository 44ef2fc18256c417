// The words that a shell can complete, from the tree by which the program reads its line.
import type { Command, Option } from 'commander';
import { describe, type ListedCommand, programTree } from '../command/program-tree.ts';

export interface CompletionWords {
  readonly name: string;
  readonly summary: string;
  /** The words that its first operand may be, if these are fixed: `create` of `keys`. */
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

/** Loads the words of every command. */
export async function completionWords(commands: readonly ListedCommand[]): Promise<CompletionWords[]> {
  const tree = programTree(commands);
  const described = commands.map(async ({ name, words, load }) => {
    const command = tree.commands.find((known) => known.name() === name);
    if (command !== undefined) describe(command, await (words ?? load)());
  });
  await Promise.all(described);
  return tree.commands.map((command) => ({
    name: command.name(),
    summary: command.summary(),
    words: command.registeredArguments[0]?.argChoices ?? [],
    options: optionsOf(command),
  }));
}

/** Includes `--help`, which is not among a command's own options. */
function optionsOf(command: Command): CompletionOption[] {
  return command.createHelp().visibleOptions(command).map(completionOption);
}

function completionOption({ long, short, required, description }: Option): CompletionOption {
  return { long: long ?? '', short: short ?? null, takesValue: required, help: description };
}
