// The difference of two texts in the unified format, as `diff -u` and `patch` have it.
import { type LineEdit, lineEdits } from './line-edits.ts';

const CONTEXT_LINES = 3;

/** Empty when the texts are equal. Each line ends in a line feed. */
export function unifiedDifference(before: string, after: string, names: readonly [string, string]): string {
  if (before === after) return '';
  const edits = lineEdits(linesOf(before), linesOf(after));
  const hunks = hunksOf(edits).map(([from, to]) => hunkText(edits, from, to));
  return `--- ${names[0]}\n+++ ${names[1]}\n${hunks.join('')}`;
}

/** With their line feeds: a last line without one is another line. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Ranges of edits that are shown: each change with its context, joined where they meet. */
function hunksOf(edits: readonly LineEdit[]): [from: number, to: number][] {
  const hunks: [number, number][] = [];
  for (const [index, edit] of edits.entries()) {
    if (edit.kind === 'same') continue;
    const from = Math.max(0, index - CONTEXT_LINES);
    const to = Math.min(edits.length, index + CONTEXT_LINES + 1);
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

const MARKS = { same: ' ', gone: '-', new: '+' } as const;

function hunkText(edits: readonly LineEdit[], from: number, to: number): string {
  const shown = edits.slice(from, to);
  const above = edits.slice(0, from);
  const before = placeOf(count(above, 'new'), count(shown, 'new'));
  const after = placeOf(count(above, 'gone'), count(shown, 'gone'));
  const lines = shown.map(({ kind, line }) =>
    line.endsWith('\n') ? `${MARKS[kind]}${line}` : `${MARKS[kind]}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${before} +${after} @@\n${lines.join('')}`;
}

/** Lines of the edits that are not of the other text. */
function count(edits: readonly LineEdit[], other: 'gone' | 'new'): number {
  return edits.filter(({ kind }) => kind !== other).length;
}

/** Where nothing is shown the place is the line before it, as in POSIX `diff -u`. */
function placeOf(above: number, lines: number): string {
  if (lines === 0) return `${above},0`;
  return lines === 1 ? `${above + 1}` : `${above + 1},${lines}`;
}
