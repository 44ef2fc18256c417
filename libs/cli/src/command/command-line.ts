// Reads a command's options and operands from the words of the command line.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { AssertionFailed } from '@methods/base/assert';
import { hintNearest } from '@methods/method/source/did-you-mean';
import { UsageError } from './command-error.ts';
import type { CommandWords, OptionWords } from './command-words.ts';

/** Every command has them. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionWords>> = {
  json: { help: 'print one JSON document and nothing else' },
  quiet: { short: 'q', help: 'print results and errors only' },
  debug: { help: 'show where in the program an error comes from' },
  help: { short: 'h', help: 'show this help' },
};

export class CommandLine {
  constructor(
    private readonly command: CommandWords,
    private readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>,
    readonly operands: readonly string[],
  ) {}

  /** The value of an option, or undefined when it was not given. */
  text(name: string): string | undefined {
    this.assertKnown(name);
    const value = this.values[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The values of an option that may be given several times. */
  texts(name: string): readonly string[] {
    this.assertKnown(name);
    const value = this.values[name];
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  }

  flag(name: string): boolean {
    this.assertKnown(name);
    return this.values[name] === true;
  }

  private assertKnown(name: string): void {
    if (!(name in this.command.options) && !(name in COMMON_OPTIONS)) {
      throw new AssertionFailed(`${this.command.name} has no option --${name}`);
    }
  }
}

/** @throws UsageError. With `--help` nothing else needs to be right. */
export function readCommandLine(command: CommandWords, words: readonly string[]): CommandLine {
  const known = { ...COMMON_OPTIONS, ...command.options };
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, { value, short, many = false }] of Object.entries(known)) {
    const type = value === undefined ? 'boolean' : 'string';
    options[name] = { type, multiple: many, ...(short === undefined ? {} : { short }) };
  }
  const seeHelp = `see  methods ${command.name} --help`;
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const line = new CommandLine(command, values, positionals);
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const words = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    if (words === undefined) {
      const near = hintNearest(token.name, Object.keys(known))?.replace(/"(.+)"/, '--$1');
      throw new UsageError(`${command.name} has no option ${token.rawName}`, near ?? seeHelp);
    }
    // Without an inline value the next word was taken, also where it is an option itself.
    const swallowed = token.inlineValue === false && token.value.startsWith('--');
    if (words.value !== undefined && (token.value === undefined || token.value === '' || swallowed)) {
      throw new UsageError(`${token.rawName} needs a value: ${words.value}`, seeHelp);
    }
    if (words.value === undefined && token.value !== undefined) {
      throw new UsageError(`${token.rawName} takes no value`, seeHelp);
    }
  }
  if (line.flag('help')) return line;
  const { min, max, word } = command.operands;
  if (positionals.length < min) throw new UsageError(`${command.name} needs ${withArticle(word)}`, usageOf(command));
  if (positionals.length > max) {
    throw new UsageError(`${command.name} does not take "${positionals[max]}"`, usageOf(command));
  }
  return line;
}

function usageOf(command: CommandWords): string {
  return `usage: methods ${command.name} ${command.usage}`.trimEnd();
}

function withArticle(word: string): string {
  if (/^[a-z-]+,/.test(word)) return `one of ${word}`;
  return /^[AEIO]/i.test(word) ? `an ${word}` : `a ${word}`;
}
