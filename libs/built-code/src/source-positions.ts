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

const [SEMICOLON, COMMA] = [';'.charCodeAt(0), ','.charCodeAt(0)];
const DIGITS = new Uint8Array(128);
for (const [value, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  DIGITS[digit.charCodeAt(0)] = value;
}

/**
 * Returns for each position the mapping at it or before it on its line; null if there is none. It holds the event loop
 * for some milliseconds a megabyte, so it makes no object for the mappings of other lines.
 */
export function sourcePositions(mapFile: string, positions: readonly Position[]): (SourcePosition | null)[] {
  const { mappings, sources } = JSON.parse(readFileSync(mapFile, 'utf8')) as {
    readonly mappings: string;
    readonly sources: readonly string[];
  };
  const found: (SourcePosition | null)[] = positions.map(() => null);
  const ofLine = new Map<number, number[]>();
  for (const [i, { line }] of positions.entries()) ofLine.set(line, [...(ofLine.get(line) ?? []), i]);
  const lastLine = Math.max(...positions.map(({ line }) => line));
  let line = 1;
  let wanted = ofLine.get(line);
  // Each field counts from the previous one, so all mappings before the last position are read.
  let [column, source, sourceLine, sourceColumn] = [0, 0, 0, 0];
  // A number in base 64: five bits a digit, its sign in the lowest bit of the first.
  let [field, bits, shift] = [0, 0, 0];
  for (let at = 0; line <= lastLine && at <= mappings.length; at++) {
    const code = at < mappings.length ? mappings.charCodeAt(at) : SEMICOLON;
    if (code !== SEMICOLON && code !== COMMA) {
      const digit = DIGITS[code] ?? 0;
      bits += (digit & 31) << shift;
      shift += 5;
      if ((digit & 32) !== 0) continue;
      const value = bits & 1 ? -(bits >> 1) : bits >> 1;
      if (field === 0) column += value;
      else if (field === 1) source += value;
      else if (field === 2) sourceLine += value;
      else if (field === 3) sourceColumn += value;
      field++;
      bits = 0;
      shift = 0;
      continue;
    }
    if (wanted !== undefined && field > 0) {
      const place = { source: sources[source] ?? '', line: sourceLine + 1, column: sourceColumn + 1 };
      for (const i of wanted) if (column < (positions[i]?.column ?? 0)) found[i] = field >= 4 ? place : null;
    }
    field = 0;
    if (code === COMMA) continue;
    line++;
    column = 0;
    wanted = ofLine.get(line);
  }
  return found;
}
