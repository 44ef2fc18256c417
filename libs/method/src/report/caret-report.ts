// Owns the text form of diagnostics for a terminal: the place, the source line with carets, and the hint.
import type { Diagnostic } from '../diagnostic.ts';
import { type Cell, cellsOf, plainLine } from './terminal-text.ts';

export interface CaretReportOptions {
  /** ANSI colours; off by default. */
  readonly colour?: boolean;
  /** Cells of source shown a line, at least 20; 100 unless given. */
  readonly width?: number;
}

const WIDTH_DEFAULT = 100;
const WIDTH_MIN = 20;
// Characters looked at on both sides of a finding: a minified line must not cost its whole length for each finding.
const LOOK_BACK = 300;
const LOOK_AHEAD = 600;
const MESSAGE_CHARACTERS_MAX = 500;

/**
 * One block a diagnostic, a blank line between them, no line break at the end; empty without diagnostics. `file` is the name
 * to show, `source` the text the diagnostics are about.
 *
 *     refund.method:24:21 error M201 no finished step "ordr" at this point
 *       24 |     if: 100 < steps.ordr.total
 *          |                     ^^^^
 *     hint: did you mean "order"?
 */
export function caretReport(
  file: string,
  source: string,
  diagnostics: readonly Diagnostic[],
  options: CaretReportOptions = {},
): string {
  const lines = source.split('\n');
  const width = Math.max(WIDTH_MIN, options.width ?? WIDTH_DEFAULT);
  const paint = options.colour ? inColour : (text: string) => text;
  return diagnostics
    .map((diagnostic) => {
      const line = lines[diagnostic.line - 1]?.replace(/\r$/, '');
      return blockOf(file, diagnostic, line, width, paint);
    })
    .join('\n\n');
}

type Paint = (text: string, colour: keyof typeof COLOURS) => string;

const COLOURS = { place: '1', error: '1;31', warning: '1;33', gutter: '2', hint: '36' } as const;

function inColour(text: string, colour: keyof typeof COLOURS): string {
  return text === '' ? '' : `\u001b[${COLOURS[colour]}m${text}\u001b[0m`;
}

function blockOf(file: string, found: Diagnostic, line: string | undefined, width: number, paint: Paint): string {
  const place = paint(`${plainLine(file)}:${found.line}:${found.column}`, 'place');
  const block = [`${place} ${paint(`${found.severity} ${found.code}`, found.severity)} ${sentence(found.message)}`];
  if (line !== undefined && line.trim() !== '') {
    const number = String(found.line).padStart(4);
    const end = found.end_line > found.line ? line.length + 1 : found.end_column;
    const { shown, before, carets } = windowOf(line, found.column - 1, end - 1, width);
    block.push(`${paint(`${number} |`, 'gutter')} ${shown}`);
    block.push(
      `${paint(`${' '.repeat(number.length)} |`, 'gutter')} ${' '.repeat(before)}${paint('^'.repeat(carets), found.severity)}`,
    );
  }
  if (found.hint !== undefined) block.push(paint(`hint: ${sentence(found.hint)}`, 'hint'));
  return block.join('\n');
}

function sentence(text: string): string {
  return plainLine(text.length > MESSAGE_CHARACTERS_MAX ? `${text.slice(0, MESSAGE_CHARACTERS_MAX)}…` : text);
}

interface Window {
  readonly shown: string;
  /** Cells before the first caret. */
  readonly before: number;
  readonly carets: number;
}

/** The part of a line around `[start, end)`, with `…` where something is left out. */
function windowOf(line: string, start: number, end: number, width: number): Window {
  let from = Math.max(0, start - LOOK_BACK);
  // Never begin with the second half of a character.
  if (/[\udc00-\udfff]/.test(line.charAt(from))) from++;
  const to = Math.min(line.length, start + LOOK_AHEAD);
  const cells = cellsOf(line.slice(from, to));
  const firstMarked = start < to ? cells.findLastIndex((cell) => cell.at <= start - from) : cells.length;
  const first = from === 0 && cellsWide(cells) <= width ? 0 : roomBefore(cells, firstMarked, Math.floor(width / 2));
  const cutBefore = first > 0 || from > 0;
  let last = first;
  for (let used = cutBefore ? 1 : 0; last < cells.length; last++) {
    used += cells[last]?.width ?? 0;
    if (used > width) break;
  }
  const shown = cells.slice(first, last);
  const cutAfter = last < cells.length || to < line.length;
  const afterMarked = cells.findIndex((cell) => cell.at >= end - from);
  const lastMarked = Math.min(last, afterMarked < 0 ? cells.length : afterMarked);
  return {
    shown: `${cutBefore ? '…' : ''}${shown.map((cell) => cell.text).join('')}${cutAfter ? '…' : ''}`,
    before: (cutBefore ? 1 : 0) + cellsWide(cells.slice(first, firstMarked)),
    carets: Math.max(1, cellsWide(cells.slice(firstMarked, lastMarked))),
  };
}

/** The first of the cells before `index` that fit into `room`. */
function roomBefore(cells: readonly Cell[], index: number, room: number): number {
  let first = index;
  for (let used = 0; first > 0; first--) {
    used += cells[first - 1]?.width ?? 0;
    if (used > room) break;
  }
  return first;
}

function cellsWide(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.width, 0);
}
