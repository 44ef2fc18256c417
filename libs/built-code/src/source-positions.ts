// Maps positions of built code to the sources. A build turns each source map into a file from which one line can be read
// without the others: decoding a whole map would hold the event loop for some 15 ms a megabyte, each time an error has a
// new place in its stack, and a decoded map in memory is ten times its file.
//
// The file: the bytes of the header, the header as JSON, a checkpoint for every 16th line, and the map's own mappings.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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

interface Header {
  readonly sources: readonly string[];
  readonly checkpoints: number;
}

/** Where a line begins: its byte in the mappings, and what its first mapping counts from, each 32 bits in the file. */
interface Checkpoint {
  at: number;
  source: number;
  line: number;
  column: number;
}

const LINES = 16;
const CHECKPOINT_BYTES = 16;
const [SEMICOLON, COMMA] = [';'.charCodeAt(0), ','.charCodeAt(0)];
const DIGITS = new Uint8Array(128);
for (const [value, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  DIGITS[digit.charCodeAt(0)] = value;
}

/** Returns the file for a source map of version 3, given as its text. */
export function positionsFile(map: string): Buffer {
  const { mappings, sources } = JSON.parse(map) as { readonly mappings: string; readonly sources: readonly string[] };
  const text = Buffer.from(mappings, 'latin1');
  const state: Checkpoint = { at: 0, source: 0, line: 0, column: 0 };
  const checkpoints: number[] = [];
  for (let line = 0; line === 0 || state.at < text.length; line++) {
    if (line % LINES === 0) checkpoints.push(state.at, state.source, state.line, state.column);
    readLine(text, state, () => {});
  }
  const header: Header = { sources, checkpoints: checkpoints.length / 4 };
  const json = Buffer.from(JSON.stringify(header));
  const numbers = Buffer.alloc(4 + 4 * checkpoints.length);
  numbers.writeUInt32LE(json.length);
  for (const [i, number] of checkpoints.entries()) numbers.writeInt32LE(number, 4 + 4 * i);
  return Buffer.concat([numbers.subarray(0, 4), json, numbers.subarray(4), text]);
}

/**
 * Returns for each position the mapping at it or before it on its line; null if there is none.
 * @throws when the file cannot be read.
 */
export function sourcePositions(file: string, positions: readonly Position[]): (SourcePosition | null)[] {
  const found: (SourcePosition | null)[] = positions.map(() => null);
  const blocks = new Map<number, number[]>();
  for (const [i, { line }] of positions.entries()) {
    const block = Math.floor((line - 1) / LINES);
    blocks.set(block, [...(blocks.get(block) ?? []), i]);
  }
  const descriptor = openSync(file, 'r');
  try {
    const headerBytes = bytesAt(descriptor, 0, 4).readUInt32LE();
    const { sources, checkpoints }: Header = JSON.parse(bytesAt(descriptor, 4, headerBytes).toString());
    const checkpointsAt = 4 + headerBytes;
    const textAt = checkpointsAt + checkpoints * CHECKPOINT_BYTES;
    const textBytes = fstatSync(descriptor).size - textAt;
    for (const [block, wanted] of blocks) {
      if (block >= checkpoints) continue;
      const both = bytesAt(descriptor, checkpointsAt + block * CHECKPOINT_BYTES, 2 * CHECKPOINT_BYTES);
      const [at, source, line, column] = [0, 4, 8, 12].map((byte) => both.readInt32LE(byte)) as [
        number,
        number,
        number,
        number,
      ];
      const end = block + 1 < checkpoints ? both.readInt32LE(CHECKPOINT_BYTES) : textBytes;
      const text = bytesAt(descriptor, textAt + at, end - at);
      const state: Checkpoint = { at: 0, source, line, column };
      for (let n = 1; n <= LINES && (n === 1 || state.at < text.length); n++) {
        const here = wanted.filter((i) => positions[i]?.line === block * LINES + n);
        readLine(text, state, (builtColumn, isMapped) => {
          for (const i of here) {
            if (builtColumn >= (positions[i]?.column ?? 0)) continue;
            const place = { source: sources[state.source] ?? '', line: state.line + 1, column: state.column + 1 };
            found[i] = isMapped ? place : null;
          }
        });
      }
    }
  } finally {
    closeSync(descriptor);
  }
  return found;
}

/** Fewer at the end of the file. */
function bytesAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

/**
 * Reads the mappings of one line and moves `state` to the next one. `mapped` is called after each with the column in
 * the built code, from 0; false is code without a source.
 */
function readLine(text: Uint8Array, state: Checkpoint, mapped: (column: number, isMapped: boolean) => void): void {
  let builtColumn = 0;
  // A number in base 64: five bits a digit, its sign in the lowest bit of the first.
  let [field, bits, shift] = [0, 0, 0];
  for (;;) {
    const code = state.at < text.length ? text[state.at] : SEMICOLON;
    state.at++;
    if (code !== SEMICOLON && code !== COMMA) {
      const digit = DIGITS[code ?? 0] ?? 0;
      bits += (digit & 31) << shift;
      shift += 5;
      if ((digit & 32) !== 0) continue;
      const value = bits & 1 ? -(bits >> 1) : bits >> 1;
      if (field === 0) builtColumn += value;
      else if (field === 1) state.source += value;
      else if (field === 2) state.line += value;
      else if (field === 3) state.column += value;
      field++;
      bits = 0;
      shift = 0;
      continue;
    }
    if (field > 0) mapped(builtColumn, field >= 4);
    if (code === SEMICOLON) return;
    field = 0;
  }
}
