// A command of the program: its words, its help, and its work.
import type { Config } from '../config.ts';
import type { ExitCode } from '../errors/command-error.ts';
import type { Output } from '../terminal/output.ts';
import type { CommandLine } from './command-line.ts';
import type { CommandHelp } from './command-words.ts';

export interface Command extends CommandHelp {
  /** It runs until it is stopped: an interrupt is its normal end, and its own exit code counts. */
  readonly endsByInterrupt?: true;
  /** @throws CommandError */
  run(line: CommandLine, context: CommandContext): Promise<ExitCode>;
}

/** The environment of a command. */
export interface CommandContext {
  /** Absolute. */
  readonly cwd: string;
  readonly config: Config;
  readonly output: Output;
  /** Aborted by an interrupt (Ctrl-C, SIGTERM); the process then ends with 130. */
  readonly interrupted: AbortSignal;
}
