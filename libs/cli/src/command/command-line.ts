// Reads a command's options and operands from its line. What commander reports about a line becomes an error in this
// program's words.
import { AssertionFailed } from '@methods/base/assert';
import { hintNearest } from '@methods/method/source/did-you-mean';
import { CommanderError, type Command as ParsedCommand } from 'commander';
import { UsageError } from '../errors/command-error.ts';
import { COMMON_OPTIONS, type CommandWords, type OptionWords } from './command-words.ts';

export class CommandLine {
  constructor(private readonly parsed: ParsedCommand) {}

  get operands(): readonly string[] {
    return this.parsed.args;
  }

  /** Returns the value of an option, or undefined when it was not given. */
  text(name: string): string | undefined {
    const value = this.value(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** The values of an option that may be given several times. */
  texts(name: string): readonly string[] {
    const value = this.value(name);
    return Array.isArray(value) ? value : [];
  }

  flag(name: string): boolean {
    return this.value(name) === true;
  }

  private value(name: string): unknown {
    const option = this.parsed.options.find(({ long }) => long === `--${name}`);
    if (option === undefined) throw new AssertionFailed(`${this.parsed.name()} has no option --${name}`);
    return this.parsed.getOptionValue(option.attributeName());
  }
}

/** `command` is described by `words`. Returns null if its help was printed. @throws UsageError */
export function readCommandLine(
  command: ParsedCommand,
  words: CommandWords,
  line: readonly string[],
): CommandLine | null {
  try {
    command.parse(line, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return null;
    throw usageError(error, words, line);
  }
  const extra = command.args[words.operands.max];
  if (extra !== undefined) throw new UsageError(`${words.name} does not take "${extra}"`, usageOf(words));
  return new CommandLine(command);
}

/** Returns the option in the spelling that was used. */
export function needsValue(command: string, name: string, words: OptionWords, line: readonly string[]): UsageError {
  const long = words.short === undefined || line.some((word) => word.startsWith(`--${name}`));
  return new UsageError(`${long ? `--${name}` : `-${words.short}`} needs a value: ${words.value}`, seeHelp(command));
}

/** `error`: from commander, about the words of the line. */
function usageError(error: CommanderError, words: CommandWords, line: readonly string[]): UsageError {
  const { name, operands } = words;
  const known = { ...words.options, ...COMMON_OPTIONS };
  const named = /'(.*)'/s.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.missingArgument':
      return new UsageError(`${name} needs ${withArticle(operands.word)}`, usageOf(words));
    case 'commander.optionMissingArgument': {
      const long = Object.entries(known).find(([option]) => named.includes(`--${option} <`));
      if (long !== undefined) return needsValue(name, ...long, line);
      break;
    }
    case 'commander.unknownOption': {
      // Without its value, which may be a secret.
      const [given = ''] = named.split('=');
      const bare = given.replace(/^--?/, '');
      if (named !== given && given.startsWith('--') && Object.hasOwn(known, bare)) {
        return new UsageError(`${given} takes no value`, seeHelp(name));
      }
      const near = hintNearest(bare, Object.keys(known))?.replace(/"(.+)"/, '--$1');
      return new UsageError(`${name} has no option ${given}`, near ?? seeHelp(name));
    }
  }
  return new UsageError(error.message.replace(/^error: /, ''), seeHelp(name));
}

export function seeHelp(command: string): string {
  return `see  methods ${command} --help`;
}

function usageOf({ name, usage }: CommandWords): string {
  return `usage: methods ${name} ${usage}`.trimEnd();
}

function withArticle(word: string): string {
  if (/^[a-z-]+,/.test(word)) return `one of ${word}`;
  return /^[AEIO]/i.test(word) ? `an ${word}` : `a ${word}`;
}
