// Makes text that others wrote safe for a terminal: a log or a question must not move the cursor or change the title.
import { cellsOf, plainLine } from '@methods/method/report/terminal-text';

// Colours and titles, of which only the letters would be left over. https://ecma-international.org ECMA-48, 5.4 and 5.6.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const SEQUENCES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const ACTING = /(\u001b\[[0-9;]*m|\r(?=\n))|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The text with its colours; every other character that acts on a terminal is replaced, line ends and tabs apart. */
export function colouredText(text: string): string {
  return text.replace(ACTING, (_found, kept: string | undefined) => kept ?? '\ufffd');
}

/** As much of a line as fits. */
export function cutToWidth(line: string, columns: number): string {
  let left = columns;
  let fitting = '';
  for (const { text, width } of cellsOf(line)) {
    left -= width;
    if (left < 0) break;
    fitting += text;
  }
  return fitting;
}

/** Lines stay lines; escape sequences are removed; every other character that acts on a terminal is replaced. */
export function plainText(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .split(/\r?\n/)
    .map((line) => plainLine(line.replaceAll('\t', '    ')))
    .join('\n');
}
