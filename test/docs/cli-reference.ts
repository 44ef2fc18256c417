// The part of docs/cli.md that is made of the commands themselves: usage, options, examples and exit codes of each.
// `npm run generate:cli` writes it; a test compares.
import type { Command } from '@methods/cli/command/command';
import { COMMON_OPTIONS, type OptionWords } from '@methods/cli/command/command-words';
import { COMMANDS } from '@methods/cli/commands';

export const CLI_PAGE = 'docs/cli.md';

const BEGIN = '<!-- Begin of what `npm run generate:cli` writes. -->';
const END = '<!-- End of what `npm run generate:cli` writes. -->';

/** Exit codes beyond those of all commands, by the command's name. */
const MORE_EXITS: Readonly<Record<string, readonly string[]>> = {
  check: ['3 with `--strict` and nothing but warnings'],
  run: ['4 when the run waits for an answer'],
  start: ['4 with `--wait` when the run waits for an answer'],
  runs: ['4 of `watch` when the run waits for an answer'],
  answer: ['4 when the run waits for an answer, to this question or the next'],
  inbox: ['4 when a question is shown that is open'],
  upgrade: ['3 when something is left to a person'],
  logout: ['3 when the sign-in is forgotten here but could not be revoked there'],
};

/** Markdown, without the markers. */
export async function cliReference(): Promise<string> {
  const parts: string[] = [];
  for (const { load } of COMMANDS) parts.push(section(await load()));
  return [
    'Every command also takes:',
    '',
    ...optionLines(COMMON_OPTIONS),
    '',
    'and ends with 0 when it is done, 1 when it was refused or failed, 2 when the command line is wrong, 130 when it was interrupted.',
    '',
    parts.join('\n'),
  ].join('\n');
}

/** The page with this reference between its markers. @throws Error where the markers are missing */
export function withReference(page: string, reference: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`${CLI_PAGE} has no place for the reference`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${reference.trim()}\n\n${page.slice(end)}`;
}

function section({ name, usage, summary, details = [], options, examples }: Command): string {
  const lines = [`### ${name}`, '', '```text', `methods ${name} ${usage}`.trimEnd(), '```', '', `${summary}.`];
  if (details.length > 0) lines.push('', '```text', ...details, '```');
  if (Object.keys(options).length > 0) lines.push('', ...optionLines(options));
  lines.push('', '```sh', ...examples, '```', '');
  const more = MORE_EXITS[name];
  if (more !== undefined) lines.push(`Exit codes: ${more.join('; ')}.`, '');
  return lines.join('\n');
}

function optionLines(options: Readonly<Record<string, OptionWords>>): string[] {
  return Object.entries(options).map(([name, { value, short, help }]) => {
    const long = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return `- \`${short === undefined ? long : `-${short}, ${long}`}\`: ${help}`;
  });
}
