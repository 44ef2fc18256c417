// The process of the `methods` command: words in, a command's work, an exit code out.
import { hintNearest } from '@methods/method/structure/did-you-mean';
import { CommandError, UsageError } from './command/command-error.ts';
import { readCommandLine } from './command/command-line.ts';
import { EXIT, type ExitCode } from './command/exit-code.ts';
import { commandHelp, programHelp } from './command/help.ts';
import { hintOf } from './command/hint-of-code.ts';
import { COMMANDS } from './commands.ts';
import { readConfig } from './config.ts';
import { endOfProcess } from './terminal/end-of-process.ts';
import { Output } from './terminal/output.ts';

/** How long a command may take to end in order after the first interrupt. */
const STOP_MS = 15_000;

const config = readConfig();
const interrupt = new AbortController();
const end = endOfProcess();
/** What runs until it is stopped has work in hand that must be put down in order. */
let endsByInterrupt = false;
/** Where the words of the command line are explained. */
let help = 'methods --help';

function outputFor(json: boolean, quiet: boolean): Output {
  const { stdin, stdout, stderr } = process;
  return new Output({ stdin, stdout, stderr, json, quiet, color: config.color });
}

async function runCommand(given: readonly string[]): Promise<ExitCode> {
  const [first, ...rest] = given;
  if (first === undefined) {
    process.stderr.write(programHelp(COMMANDS));
    return EXIT.usage;
  }
  if (first === '--help' || first === '-h' || (first === 'help' && rest.length === 0)) {
    process.stdout.write(programHelp(COMMANDS));
    return EXIT.done;
  }
  const [name, args] = first === 'help' ? [rest[0] ?? '', ['--help']] : [first, rest];
  const entry = COMMANDS.find((known) => known.name === name);
  if (entry === undefined) {
    const near = hintNearest(
      name,
      COMMANDS.map((known) => known.name),
    );
    throw new UsageError(`"${name}" is not a command`, near ?? 'see  methods --help');
  }
  help = `methods ${entry.name} --help`;
  const words = await (entry.words ?? entry.load)();
  const line = readCommandLine(words, args);
  if (line.flag('help')) {
    process.stdout.write(commandHelp(words));
    return EXIT.done;
  }
  const command = await entry.load();
  const output = outputFor(line.flag('json'), line.flag('quiet'));
  endsByInterrupt = command.endsByInterrupt === true;
  const context = { cwd: process.cwd(), config, output, interrupted: interrupt.signal };
  const code = await command.run(line, context);
  return interrupt.signal.aborted && !endsByInterrupt ? EXIT.interrupted : code;
}

async function main(): Promise<ExitCode> {
  const words = process.argv.slice(2);
  try {
    return await runCommand(words);
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    return told(error, words);
  }
}

/** Says what is wrong; where it comes from only with --debug. */
function told(error: unknown, words: readonly string[]): ExitCode {
  const output = outputFor(words.includes('--json'), false);
  const debug = words.includes('--debug');
  if (error instanceof CommandError) {
    const { code, message, hint = hintOf(code, help) } = error;
    output.error({ code, message, hint });
    if (debug) process.stderr.write(stacksOf(error));
    return error.exitCode;
  }
  const hint = debug ? undefined : 'the same with --debug shows where it comes from';
  output.error({ code: 'internal', message: `this is a fault of methods: ${String(error)}`, hint });
  if (debug) process.stderr.write(stacksOf(error));
  return EXIT.failed;
}

/** Of the error and what caused it; nothing else of them, for what they hold may be a secret. */
function stacksOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each instanceof Error && stacks.length < 8; each = each.cause) stacks.push(each.stack ?? '');
  return `${stacks.join('\ncaused by ')}\n`;
}

function stop(): void {
  if (interrupt.signal.aborted) return;
  interrupt.abort();
  setTimeout(() => end(EXIT.interrupted), STOP_MS).unref();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The second is from somebody who has waited long enough; steps die with this process. A terminal that goes sends
    // several, and nobody is there any more who waits.
    if (interrupt.signal.aborted && signal !== 'SIGHUP') end(EXIT.interrupted);
    stop();
  });
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has gone (`methods … | head`) is no fault of ours; a terminal that has gone is an interrupt. Ctrl-C
    // ends `tee` behind a pipe as well, and at once: what ends in order must not be cut short by that.
    const gone = error.code === 'EPIPE';
    if (gone && !endsByInterrupt && !interrupt.signal.aborted) end(EXIT.done);
    if (!gone && error.code !== 'EIO' && !interrupt.signal.aborted) end(EXIT.failed);
    stop();
  });
}
process.on('uncaughtException', (error) => end(told(error, process.argv.slice(2))));

// Timers of the executor keep no process alive, and a wait or a delay between tries is nothing but a timer.
setInterval(() => {}, 1 << 30);
const code = await main();
// An idle connection or a runner's pipe must not keep the command; what was written must get out first.
await new Promise((written) => process.stdout.write('', written));
end(code);
