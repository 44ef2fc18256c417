// One call of the program: takes words, runs a command, and returns an exit code. It uses the process only through its
// parameters.
import { hintNearest } from '@methods/method/source/did-you-mean';
import { readCommandLine } from './command/command-line.ts';
import { describe, programTree } from './command/program-tree.ts';
import { COMMANDS } from './commands.ts';
import type { Config } from './config.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from './errors/command-error.ts';
import { reasonOf } from './method-file/method-file.ts';
import { Output } from './terminal/output.ts';
import { VERSION } from './version.ts';

export interface Surroundings {
  /** The process itself, or a replacement. */
  readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
  /** Absolute. */
  readonly cwd: string;
  readonly config: Config;
  /** Aborted by the first interrupt. */
  readonly interrupted: AbortSignal;
}

export class CalledProgram {
  /** The command runs until it is stopped, and has work to finish in order. */
  endsByInterrupt = false;
  /** Where the words of the command line are explained. */
  private help = 'methods --help';
  private output: Output | null = null;

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

  /** Of output that is shown once, as `Output` has it; null: there is none. */
  get ifLost(): string | null {
    return this.output?.ifLost ?? null;
  }

  /** Prints the error; its origin only with --debug. */
  told(thrown: unknown): ExitCode {
    const error = refusalOfSystem(thrown) ?? thrown;
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
    if (first === '--version' || first === '-V') {
      const output = this.outputFor(rest.includes('--json'), false);
      output.document({ version: VERSION });
      output.result(VERSION);
      return EXIT.done;
    }
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
    this.output = output;
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

/** What its user can repair, wherever in a command it was met; null: any other error. */
function refusalOfSystem(error: unknown): CommandError | null {
  if (!(error instanceof Error) || error instanceof CommandError) return null;
  const { code = '', path, syscall }: NodeJS.ErrnoException = error;
  // Making a folder and those above it reports a read-only file system as a folder that does not exist.
  const isUnmade = code === 'ENOENT' && syscall === 'mkdir';
  if (!isUnmade && !REFUSED.has(code)) return null;
  if (path === undefined && syscall !== 'write') return null;
  const what = path === undefined ? 'cannot write' : `cannot use ${path}`;
  const why = isUnmade ? 'the folder cannot be made' : reasonOf(error);
  return new CommandError('not_written', `${what}: ${why}`, { cause: error });
}

const REFUSED = new Set(['EACCES', 'EDQUOT', 'ENOSPC', 'EPERM', 'EROFS']);

/** The stacks of the error and its causes, and nothing else of them, since it may be a secret. */
function stacksOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each instanceof Error && stacks.length < 8; each = each.cause) stacks.push(each.stack ?? '');
  return `${stacks.join('\ncaused by ')}\n`;
}

const HINTS: Readonly<Record<string, string>> = {
  idempotency_conflict: 'send the same values as the first time, or use another key',
  interrupted: 'call the command again',
  invalid_answer: 'see its form with  methods answer RUN_ID',
  invalid_inputs: 'see the inputs with  methods show METHOD,  or for a file with  methods types FILE',
  link_unreadable: 'check who may read the file',
  not_found: 'is it the right name, and this the right folder?',
  not_revoked: 'try again, or end the sign-in at the issuer',
  not_written: 'check what is there and who may write there, or choose another place',
  question_changed: 'see the open question with  methods answer RUN_ID',
  run_busy: 'wait for it, or end it',
  run_damaged: 'start the method again:  methods run FILE',
  run_finished: 'see it with  methods runs show RUN_ID,  or do it again with  methods runs rerun RUN_ID',
  too_large: 'is it the right file?',
  unreachable: 'try again in a moment',
};

/** `help`: where the command is explained, for all other codes. */
function hintOf(code: string, help: string): string {
  return (Object.hasOwn(HINTS, code) ? HINTS[code] : undefined) ?? `see  ${help}`;
}
