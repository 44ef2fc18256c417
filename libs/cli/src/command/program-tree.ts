// The tree of commands: names and summaries at once, a command's options when it is called or completed.

import type { HelpConfiguration, OutputConfiguration } from 'commander';
import { Argument, Command, Option } from 'commander';
import { UsageError } from '../errors/command-error.ts';
import { needsValue, seeHelp } from './command-line.ts';
import { COMMON_OPTIONS, type CommandHelp, type OptionWords } from './command-words.ts';

/** A command of the program, loaded when it is needed. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  /** Only its words, if its work takes long to load. */
  readonly words?: () => Promise<CommandHelp>;
  readonly load: () => Promise<CommandHelp>;
}

/** All commands by name and summary. `streams`: for the help. */
export function programTree(commands: readonly ListedCommand[], streams: HelpStreams = process): Command {
  const program = new Command('methods')
    .usage('COMMAND [OPTIONS]')
    .description('Writes, checks, tests and runs methods, on this machine and on a server.')
    .helpOption(spelling('help', COMMON_OPTIONS.help), COMMON_OPTIONS.help.help)
    .helpCommand(false)
    .configureHelp(HELP_LAYOUT)
    .configureOutput(helpOutput(streams))
    .exitOverride()
    .addHelpText(
      'after',
      [
        '',
        'Every command takes --json, --quiet and --help. methods --version prints the version.',
        '',
        'Examples:',
        '  methods new refund-order',
        '  methods run refund-order.method --inputs \'{"amount": 20}\'',
      ].join('\n'),
    );
  for (const { name, summary } of commands) program.command(name).summary(summary);
  // Its own options are those of every command.
  return program.configureHelp({ ...HELP_LAYOUT, visibleOptions: () => [] });
}

/** Adds options and operands to a command of the tree. `line`: the words it is called with. */
export function describe(command: Command, words: CommandHelp, line: readonly string[] = []): void {
  const { usage, summary, details = [], examples, operands } = words;
  // Without a usage, commander generates one.
  command.usage(usage === '' ? ' ' : usage);
  command.description([`${summary}.`, ...details].join('\n'));
  for (const [name, option] of Object.entries({ ...words.options, ...COMMON_OPTIONS })) {
    if (name !== 'help') command.addOption(optionOf(words.name, name, option, line));
  }
  for (let i = 0; i < operands.min; i++) command.addArgument(new Argument(`<operand${i}>`));
  // Commander has no maximum except one: it is checked when the line has been read.
  command.addArgument(new Argument('[others...]'));
  const [first] = command.registeredArguments;
  // Only for the shell's completion: the command itself has a better message for another word.
  if (operands.choices !== undefined) first?.choices(operands.choices).argParser((word) => word);
  command.addHelpText('after', ['', 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n'));
}

function optionOf(command: string, name: string, words: OptionWords, line: readonly string[]): Option {
  const { value, many = false, help } = words;
  if (value === undefined) {
    const flag = new Option(spelling(name, words), help);
    // Commander treats --no-upload as the opposite of --upload; here giving both is an error that the command reports.
    flag.negate = false;
    return flag;
  }
  return new Option(`${spelling(name, words)} <${value}>`, help).argParser((given: string, others: unknown) => {
    // The next word was taken as the value, even if it is an option itself.
    const swallowed = given.startsWith('--') && line.includes(given);
    if (given === '' || swallowed) throw needsValue(command, name, words, line);
    if (many) return [...(Array.isArray(others) ? others : []), given];
    // One of two values would be ignored in silence.
    if (others !== undefined) throw new UsageError(`--${name} is given twice`, seeHelp(command));
    return given;
  });
}

function spelling(name: string, { short }: OptionWords): string {
  return short === undefined ? `--${name}` : `-${short}, --${name}`;
}

/** The process's own streams, or replacements. */
export type HelpStreams = Pick<NodeJS.Process, 'stdout' | 'stderr'>;

const HELP_LAYOUT: HelpConfiguration = {
  commandUsage: (command) => [command.parent?.name() ?? '', command.name(), command.usage()].join(' ').trim(),
  optionTerm: ({ flags }) => flags.replace(/<(.*)>$/s, '$1'),
  subcommandTerm: (command) => command.name(),
};

/** Lines are wrapped only on a terminal. */
function helpOutput({ stdout, stderr }: HelpStreams): OutputConfiguration {
  const widthOf = (stream: NodeJS.WriteStream) => (stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY);
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    // Errors of the line are printed like all others.
    outputError: () => {},
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  };
}
