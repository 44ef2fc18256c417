// One call of the program: words in, a command's work, an exit code out. It touches the process only by what it is given.
import { hintNearest } from '@methods/method/source/did-you-mean';
import { COMMANDS } from '../commands.ts';
import type { Config } from '../config.ts';
import { Output } from '../terminal/output.ts';
import { CommandError, UsageError } from './command-error.ts';
import { readCommandLine } from './command-line.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { hintOf } from './hint-of-code.ts';
import { describe, programTree } from './program-tree.ts';

export interface Surroundings {
  /** The process itself, or what is used in its place. */
  readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
  /** Absolute. */
  readonly cwd: string;
  readonly config: Config;
  /** Aborted by the first interrupt. */
  readonly interrupted: AbortSignal;
}

export class CalledProgram {
  /** A command that runs until it is stopped has work to finish in order. */
  endsByInterrupt = false;
  /** Where the words of the command line are explained. */
  private help = 'methods --help';

  constructor(
    private readonly words: readonly string[],
    private readonly around: Surroundings,
  ) {}

  async run(): Promise<ExitCode> {
    try {
      return await this.runCommand();
    } catch (error) {
      if (this.around.interrupted.aborted) return EXIT.interrupted;
      return this.told(error);
    }
  }

  /** Prints the error; its origin only with --debug. */
  told(error: unknown): ExitCode {
    const { words } = this;
    const { stderr } = this.around.streams;
    const output = this.outputFor(words.includes('--json'), false);
    const debug = words.includes('--debug');
    if (error instanceof CommandError) {
      const { code, message, hint = hintOf(code, this.help) } = error;
      output.error({ code, message, hint });
      if (debug) stderr.write(stacksOf(error));
      return error.exitCode;
    }
    const hint = debug ? undefined : 'the same with --debug shows where it comes from';
    output.error({ code: 'internal', message: `this is a fault of methods: ${String(error)}`, hint });
    if (debug) stderr.write(stacksOf(error));
    return EXIT.failed;
  }

  private async runCommand(): Promise<ExitCode> {
    const { cwd, config, interrupted, streams } = this.around;
    const [first, ...rest] = this.words;
    const program = programTree(COMMANDS, streams);
    if (first === undefined) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
      program.outputHelp();
      return EXIT.done;
    }
    const [name, args] = first === 'help' ? [rest[0] ?? '', ['--help']] : [first, rest];
    const entry = COMMANDS.find((known) => known.name === name);
    const parsed = program.commands.find((known) => known.name() === name);
    if (entry === undefined || parsed === undefined) {
      const near = hintNearest(
        name,
        COMMANDS.map((known) => known.name),
      );
      throw new UsageError(`"${name}" is not a command`, near ?? 'see  methods --help');
    }
    this.help = `methods ${name} --help`;
    const words = await (entry.words ?? entry.load)();
    describe(parsed, words, args);
    const line = readCommandLine(parsed, words, args);
    if (line === null) return EXIT.done;
    const command = await entry.load();
    const output = this.outputFor(line.flag('json'), line.flag('quiet'));
    this.endsByInterrupt = command.endsByInterrupt === true;
    const code = await command.run(line, { cwd, config, output, interrupted });
    return interrupted.aborted && !this.endsByInterrupt ? EXIT.interrupted : code;
  }

  private outputFor(json: boolean, quiet: boolean): Output {
    const { stdin, stdout, stderr } = this.around.streams;
    const { color } = this.around.config;
    return new Output({ stdin, stdout, stderr, json, quiet, color });
  }
}

/** Of the error and its causes; nothing else of them, since it may be a secret. */
function stacksOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each instanceof Error && stacks.length < 8; each = each.cause) stacks.push(each.stack ?? '');
  return `${stacks.join('\ncaused by ')}\n`;
}
