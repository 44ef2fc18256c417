// Owns the source as text: decoding, the bounds on bytes and characters, and offsets turned into lines and columns.

import { isWellFormed } from '../cut-text.ts';
import { utf8Bytes } from '../utf8-bytes.ts';

const SOURCE_BYTES_MAX = 262_144;

/** Offsets into the text, in UTF-16 units, end exclusive. */
export type Range = readonly [start: number, end: number];

/** A readable source with the start of every line. */
export class SourceText {
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  /** Line and column of an offset, both from 1. */
  positionOf(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] ?? 0) + 1 };
  }

  /** The offset of a line and column, both from 1; the end of the text where there is no such line. */
  offsetOf(line: number, column: number): number {
    return Math.min((this.#lineStarts[line - 1] ?? this.text.length) + column - 1, this.text.length);
  }

  /** The text of the line of an offset, without its line break. */
  lineAt(offset: number): string {
    const start = this.#lineStarts[this.positionOf(offset).line - 1] ?? 0;
    const end = this.text.indexOf('\n', start);
    return this.text.slice(start, end < 0 ? undefined : end);
  }
}

export type Decoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly text: string; readonly at: number };

// Control characters YAML forbids; the YAML lexer uses them as token borders, so they must not get there.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** False for NUL and lone surrogates: escapes can write them, but databases refuse them. */
export function isStorable(text: string): boolean {
  return isWellFormed(text) && !text.includes('\0');
}

/** Bytes or text to checked text: at most 256 KiB, valid UTF-8, no control characters. */
export function decodeSource(source: string | Uint8Array): Decoded {
  const bytes = typeof source === 'string' ? utf8Bytes(source) : source.byteLength;
  if (bytes > SOURCE_BYTES_MAX) return { ok: false, message: 'the source is larger than 256 KiB', text: '', at: 0 };
  let text: string;
  try {
    text =
      typeof source === 'string' ? source : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(source);
  } catch {
    return { ok: false, message: 'the source is not valid UTF-8', text: '', at: 0 };
  }
  if (!isWellFormed(text)) return { ok: false, message: 'the source is not valid Unicode', text: '', at: 0 };
  const at = text.search(FORBIDDEN);
  if (at >= 0) return { ok: false, message: 'the source holds a control character', text, at };
  return { ok: true, text };
}
