// A unified difference on a terminal: coloured, and nothing in the texts acts on the screen.
import type { Output, Paint } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';

const PAINTS: readonly (readonly [RegExp, Paint])[] = [
  [/^(---|\+\+\+) /, 'bold'],
  [/^@@ /, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
];

/** Every line ends in a line feed. */
export function showDifference(difference: string, output: Output): string {
  const lines = plainText(difference.replace(/\n$/, '')).split('\n');
  return lines.map((line) => `${painted(line, output)}\n`).join('');
}

function painted(line: string, output: Output): string {
  const paint = PAINTS.find(([start]) => start.test(line))?.[1];
  return paint === undefined ? line : output.paint(paint, line);
}
