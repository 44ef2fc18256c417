// The texts of `--help`.
import { COMMON_OPTIONS } from './command-line.ts';
import type { CommandHelp, OptionWords } from './command-words.ts';

/** The program's own help. */
export function programHelp(commands: readonly { readonly name: string; readonly summary: string }[]): string {
  return [
    'Usage: methods COMMAND [OPTIONS]',
    '',
    'Writes, checks, tests and runs methods, on this machine and on a server.',
    '',
    'Commands:',
    ...table(commands.map(({ name, summary }) => [name, summary])),
    '',
    'Every command takes --json, --quiet and --help.',
    '',
    'Examples:',
    '  methods new refund-order',
    '  methods run refund-order.method --inputs \'{"amount": 20}\'',
    '',
  ].join('\n');
}

export function commandHelp(command: CommandHelp): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS });
  return [
    `Usage: methods ${command.name} ${command.usage}`.trimEnd(),
    '',
    `${command.summary}.`,
    ...(command.details ?? []),
    '',
    'Options:',
    ...table(options.map(([name, words]) => [spelling(name, words), words.help])),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

function spelling(name: string, { short, value }: OptionWords): string {
  const long = `--${name}${value === undefined ? '' : ` ${value}`}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
