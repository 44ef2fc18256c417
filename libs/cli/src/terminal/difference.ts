// The difference of two texts in the unified format, like `diff -u` and `patch`, plain or coloured for a terminal.
import { type StructuredPatchHunk, structuredPatch } from 'diff';
import type { Output, Paint } from './output.ts';
import { plainText } from './plain-text.ts';

const CONTEXT_LINES = 3;
/** Time and memory grow with its square. Texts that differ more are shown as one replaced block. */
const EDITS_MAX = 2_000;
const NO_LINE_FEED = '\\ No newline at end of file';

type Hunk = Omit<StructuredPatchHunk, 'linedelimiters'>;

/** Empty when the texts are equal. Each line ends in a line feed. */
export function unifiedDifference(before: string, after: string, names: readonly [string, string]): string {
  if (before === after) return '';
  const options = { context: CONTEXT_LINES, maxEditLength: EDITS_MAX };
  const patch = structuredPatch(...names, before, after, undefined, undefined, options);
  const hunks = patch?.hunks ?? [replacement(before, after)];
  // The library's own text quotes names with umlauts and counts single lines, which `diff -u` does not.
  return `--- ${names[0]}\n+++ ${names[1]}\n${hunks.map(hunkText).join('')}`;
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  return `@@ -${placeOf(oldStart, oldLines)} +${placeOf(newStart, newLines)} @@\n${lines.join('\n')}\n`;
}

/** An empty block is placed at the line before it, as in POSIX `diff -u`. */
function placeOf(start: number, lines: number): string {
  if (lines === 0) return `${start - 1},0`;
  return lines === 1 ? `${start}` : `${start},${lines}`;
}

function replacement(before: string, after: string): Hunk {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const lines = [...marked('-', old), ...marked('+', fresh)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: fresh.length, lines };
}

/** Includes line feeds: a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(mark: '-' | '+', lines: readonly string[]): string[] {
  return lines.flatMap((line) => (line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, NO_LINE_FEED]));
}

// A unified difference on a terminal: coloured, and nothing in the texts acts on the screen.

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
