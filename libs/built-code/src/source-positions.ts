// Maps positions of built code to the sources, by its source map. The map is read for each request and not kept:
// positions are requested when something failed, most processes never do, and a map in memory is ten times its file.
import { readFileSync } from 'node:fs';

export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

export interface SourcePosition extends Position {
  /** As the map names it. */
  readonly source: string;
}

const DIGITS = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((digit, value) => [
    digit.charCodeAt(0),
    value,
  ]),
);
const [SEMICOLON, COMMA] = [';'.charCodeAt(0), ','.charCodeAt(0)];

/** Returns for each position the mapping at it or before it on its line; null if there is none. */
export function sourcePositions(mapFile: string, positions: readonly Position[]): (SourcePosition | null)[] {
  const { mappings, sources } = JSON.parse(readFileSync(mapFile, 'utf8')) as {
    readonly mappings: string;
    readonly sources: readonly string[];
  };
  const found: (SourcePosition | null)[] = positions.map(() => null);
  const lastLine = Math.max(...positions.map(({ line }) => line));
  // Each field counts from the previous one, so all mappings before the last position are read.
  let [line, column, source, sourceLine, sourceColumn] = [1, 0, 0, 0, 0];
  for (let at = 0; at < mappings.length && line <= lastLine; at++) {
    const code = mappings.charCodeAt(at);
    if (code === SEMICOLON) {
      line++;
      column = 0;
    }
    if (code === SEMICOLON || code === COMMA) continue;
    const fields: number[] = [];
    for (;;) {
      const [value, next] = readNumber(mappings, at);
      fields.push(value);
      at = next;
      const following = mappings.charCodeAt(at);
      if (at >= mappings.length || following === SEMICOLON || following === COMMA) break;
    }
    at--;
    column += fields[0] ?? 0;
    source += fields[1] ?? 0;
    sourceLine += fields[2] ?? 0;
    sourceColumn += fields[3] ?? 0;
    for (const [i, wanted] of positions.entries()) {
      if (wanted.line !== line || wanted.column - 1 < column) continue;
      const isOfSource = fields.length >= 4;
      found[i] = isOfSource ? { source: sources[source] ?? '', line: sourceLine + 1, column: sourceColumn + 1 } : null;
    }
  }
  return found;
}

/** Reads a number in base 64, five bits a digit, its sign in the lowest; and returns where it ends. */
function readNumber(text: string, start: number): [value: number, end: number] {
  let [bits, shift, at] = [0, 0, start];
  for (;;) {
    const digit = DIGITS.get(text.charCodeAt(at++)) ?? 0;
    bits += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) === 0) break;
  }
  return [bits & 1 ? -(bits >> 1) : bits >> 1, at];
}
