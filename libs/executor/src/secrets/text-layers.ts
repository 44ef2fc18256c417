// The layers of a text: unchanged, and with its escapes read once, twice and three times. Encoders change secrets
// character by character (JSON, URLs, HTML, shells, CSV), each with its own choice of characters and often one inside
// the other, so that no list of spellings is complete: reading escapes back needs no list.
import { escapeEnd, LEADS, OPEN, readEscape } from './read-escape.ts';

/** UTF-16 codes of a text, with their places. */
export interface TextLayer {
  readonly codes: Uint16Array;
  /** The layer whose escapes were read; null: this is the text. */
  readonly below: TextLayer | null;
  /** For each escape, the index after it here and in the layer below. */
  readonly ends: readonly number[];
  /** Place in the text where an escape begins that may continue after the text; -1: nowhere. */
  readonly openAt: number;
}

const LAYERS_MAX = 4;

/**
 * At least one; as many as there are escapes within escapes, four at most. Where more text follows, all but the first
 * end before an escape that is not finished.
 */
export function layersOf(text: string, final = true): TextLayer[] {
  const bytes = Buffer.allocUnsafeSlow(text.length * 2);
  bytes.write(text, 'utf16le');
  const codes = new Uint16Array(bytes.buffer, 0, text.length);
  let layer: TextLayer | null = { codes, below: null, ends: [], openAt: -1 };
  const layers: TextLayer[] = [];
  while (layer !== null && layers.length < LAYERS_MAX) {
    layers.push(layer);
    layer = unescaped(layer, final);
  }
  return layers;
}

/** Where in the text the code at `index` begins. */
export function placeOf({ below, ends }: TextLayer, index: number): number {
  if (below === null) return index;
  let low = 0;
  let high = ends.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[2 * middle] as number) <= index) low = middle + 1;
    else high = middle;
  }
  const shift = low === 0 ? 0 : (ends[2 * low - 1] as number) - (ends[2 * low - 2] as number);
  return placeOf(below, index + shift);
}

/** Null when there is no escape. */
function unescaped(below: TextLayer, final: boolean): TextLayer | null {
  const { codes } = below;
  const { length } = codes;
  let read: Uint16Array | null = null;
  const ends: number[] = [];
  let { openAt } = below;
  let size = 0;
  /** Up to where it was copied. */
  let copied = 0;
  const nextOf = below.below === null ? everyLead : new LeadsNearEscapes(below).next;
  let i = nextOf(codes, 0);
  for (; i < length; i = nextOf(codes, i)) {
    const value = readEscape(codes, i);
    if (value === OPEN && !final) {
      openAt = placeOf(below, i);
      break;
    }
    if (value < 0) {
      i++;
      continue;
    }
    read ??= new Uint16Array(length);
    size = copyRun(codes, copied, i, read, size);
    if (value > 0xffff) {
      read[size++] = 0xd800 + ((value - 0x10000) >> 10);
      read[size++] = 0xdc00 + (value & 0x3ff);
    } else {
      read[size++] = value;
    }
    i = escapeEnd;
    copied = i;
    ends.push(size, i);
  }
  if (read === null) return i < length ? { codes: codes.subarray(0, i), below, ends, openAt } : null;
  size = copyRun(codes, copied, Math.min(i, length), read, size);
  return { codes: read.subarray(0, size), below, ends, openAt };
}

/** Most runs are short, and a call for each would cost more. */
const SHORT_RUN = 48;

/** Returns the size after it. */
function copyRun(codes: Uint16Array, from: number, to: number, into: Uint16Array, at: number): number {
  if (to - from > SHORT_RUN) {
    into.set(codes.subarray(from, to), at);
    return at + to - from;
  }
  let size = at;
  for (let i = from; i < to; i++) into[size++] = codes[i] as number;
  return size;
}

/** Where the next escape may begin from `from` on; the length: nowhere. */
type NextLead = (codes: Uint16Array, from: number) => number;

const everyLead: NextLead = (codes, from) => {
  const leads = LEADS;
  const { length } = codes;
  let i = from;
  while (i < length && leads[codes[i] as number] === 0) i++;
  return i;
};

/** An escape of four bytes in UTF-8. */
const ESCAPE_CHARACTERS_MAX = 16;

/**
 * An escape that is new in this layer has a part that was read from an escape: leads are searched for from a little
 * before such a place to its end.
 */
class LeadsNearEscapes {
  private readonly ends: readonly number[];
  private pair = 0;

  constructor({ ends }: TextLayer) {
    this.ends = ends;
  }

  readonly next: NextLead = (codes, from) => {
    const { ends } = this;
    let i = from;
    for (; this.pair < ends.length; this.pair += 2) {
      const end = ends[this.pair] as number;
      // Of two units, an escape beyond the first plane.
      i = Math.max(i, end - 2 - ESCAPE_CHARACTERS_MAX);
      while (i < end && LEADS[codes[i] as number] === 0) i++;
      if (i < end) return i;
    }
    // The text cut off by the end may be an escape that was unknown below.
    i = Math.max(i, codes.length - ESCAPE_CHARACTERS_MAX);
    while (i < codes.length && LEADS[codes[i] as number] === 0) i++;
    return i;
  };
}
