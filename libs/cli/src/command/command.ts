// What a command of the program is: its words for the help, its options, and what it does.
import type { Config } from '../config.ts';
import type { Output } from '../terminal/output.ts';
import type { CommandLine } from './command-line.ts';
import type { ExitCode } from './exit-code.ts';

export interface OptionWords {
  /** Word for the value in the help, such as `FILE`; absent: the option is a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly help: string;
}

export interface Command {
  readonly name: string;
  /** Arguments as the help shows them, such as `FILE… [--strict]`. */
  readonly usage: string;
  /** One sentence without its full stop. */
  readonly summary: string;
  /** More lines for its own help. */
  readonly details?: readonly string[];
  readonly options: Readonly<Record<string, OptionWords>>;
  /** Fewest and most arguments that are no options. */
  readonly operands: { readonly min: number; readonly max: number; readonly word: string };
  readonly examples: readonly [string, string];
  /** @throws CommandError */
  run(line: CommandLine, context: CommandContext): Promise<ExitCode>;
}

/** What the process gives a command. */
export interface CommandContext {
  /** Absolute. */
  readonly cwd: string;
  readonly config: Config;
  readonly output: Output;
  /** Aborted by an interrupt (Ctrl-C, SIGTERM); the process then ends with 130. */
  readonly interrupted: AbortSignal;
}
