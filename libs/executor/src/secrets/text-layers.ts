// The layers of a text: as it is, and with its escapes read once, twice and three times. Encoders of the wild change
// secrets character by character (JSON, URLs, HTML, shells, CSV), each its own choice of characters and often one
// inside the other, so that no list of spellings is complete: reading them back needs none.
import { namedEntity } from './entities.ts';

/** UTF-16 codes of a text, and where they come from. */
export interface TextLayer {
  readonly codes: Uint16Array;
  /** The layer whose escapes were read; null: this is the text. */
  readonly below: TextLayer | null;
  /** For each escape, the index after it here and in the layer below. */
  readonly ends: readonly number[];
  /** Place in the text where an escape begins that may go on after the text; -1: nowhere. */
  readonly openAt: number;
}

const LAYERS_MAX = 4;

const [QUOTE, PERCENT, AMPERSAND, APOSTROPHE, BACKSLASH] = [34, 37, 38, 39, 92];
const LEADS = new Uint8Array(65_536);
for (const lead of [QUOTE, PERCENT, AMPERSAND, APOSTROPHE, BACKSLASH]) LEADS[lead] = 1;

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27 };

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

/** The escape at `index`: what it stands for, and the index after it. Null: there is none. */
export function escapeAt(codes: Uint16Array, index: number): { readonly value: number; readonly end: number } | null {
  if (LEADS[codes[index] as number] === 0) return null;
  const value = readEscape(codes, index);
  return value < 0 ? null : { value, end: escapeEnd };
}

/** Null when there is no escape. */
function unescaped(below: TextLayer, final: boolean): TextLayer | null {
  const { codes } = below;
  const read = new Uint16Array(codes.length);
  const ends: number[] = [];
  let { openAt } = below;
  let size = 0;
  let copied = 0;
  let end = codes.length;
  for (let i = 0; i < end; ) {
    if (LEADS[codes[i] as number] === 0) {
      i++;
      continue;
    }
    const value = readEscape(codes, i);
    if (value < 0) {
      if (value === OPEN && !final) {
        openAt = placeOf(below, i);
        end = i;
      }
      i++;
      continue;
    }
    read.set(codes.subarray(copied, i), size);
    size += i - copied;
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
  if (ends.length === 0 && end === codes.length) return null;
  read.set(codes.subarray(copied, end), size);
  return { codes: read.subarray(0, size + end - copied), below, ends, openAt };
}

const NONE = -1;
/** The text ends inside of what may be an escape. */
const OPEN = -2;
/** The end of the escape that was read last. */
let escapeEnd = 0;

/** The code point of the escape at `i`, or NONE, or OPEN. */
function readEscape(codes: Uint16Array, i: number): number {
  switch (codes[i]) {
    case BACKSLASH:
      return readBackslash(codes, i);
    case PERCENT:
      return readPercent(codes, i);
    case AMPERSAND:
      return readEntity(codes, i);
    default:
      return readQuotes(codes, i, codes[i] as number);
  }
}

function readBackslash(codes: Uint16Array, i: number): number {
  if (i + 1 >= codes.length) return OPEN;
  const next = codes[i + 1] as number;
  const letter = String.fromCharCode(next);
  // In quotes of a shell a backslash is one, also before an apostrophe that is written around them.
  if (next === APOSTROPHE && shellQuoteEnd(codes, i + 1) > 0) return NONE;
  if (letter === 'u') return codes[i + 2] === 123 ? readBraces(codes, i + 3) : readHex(codes, i + 2, 4);
  if (letter === 'U') return readHex(codes, i + 2, 8);
  if (letter === 'x') return readBytes(codes, i, readHexByte);
  const mayBeOctal = next >= 48 && next <= 51 && (i + 2 >= codes.length || digitOf(codes[i + 2], 8) >= 0);
  if (mayBeOctal) return readBytes(codes, i, readOctalByte);
  escapeEnd = i + 2;
  if (letter === '0') return 0;
  if (CONTROLS[letter] !== undefined) return CONTROLS[letter];
  return /[A-Za-z0-9]/.test(letter) ? NONE : next;
}

function readPercent(codes: Uint16Array, i: number): number {
  if (i + 1 >= codes.length) return OPEN;
  if (codes[i + 1] === 117) return readHex(codes, i + 2, 4);
  return readBytes(codes, i, readPercentByte);
}

/** `""` of CSV and SQL, `'\''` and `'"'"'` of shells. */
function readQuotes(codes: Uint16Array, i: number, quote: number): number {
  if (i + 1 >= codes.length) return OPEN;
  escapeEnd = i + 2;
  if (codes[i + 1] === quote) return quote;
  if (quote !== APOSTROPHE) return NONE;
  const end = shellQuoteEnd(codes, i);
  if (end > 0) {
    escapeEnd = end;
    return APOSTROPHE;
  }
  return codes.length - i < 5 && (codes[i + 1] === BACKSLASH || codes[i + 1] === QUOTE) ? OPEN : NONE;
}

const SHELL_QUOTES = [
  [APOSTROPHE, BACKSLASH, APOSTROPHE, APOSTROPHE],
  [APOSTROPHE, QUOTE, APOSTROPHE, QUOTE, APOSTROPHE],
] as const;

/** -1: no apostrophe of a shell begins here. */
function shellQuoteEnd(codes: Uint16Array, i: number): number {
  const written = SHELL_QUOTES.find((quote) => quote.every((code, at) => codes[i + at] === code));
  return written === undefined ? -1 : i + written.length;
}

const ENTITY_CHARACTERS_MAX = 12;

function readEntity(codes: Uint16Array, i: number): number {
  let end = i + 1;
  let name = '';
  for (; end - i <= ENTITY_CHARACTERS_MAX; end++) {
    if (end >= codes.length) return OPEN;
    const code = codes[end] as number;
    if (code === 59) break;
    const isOfName = code === 35 || digitOf(code, 36) >= 0;
    if (!isOfName) return NONE;
    name += String.fromCharCode(code);
  }
  if (codes[end] !== 59) return NONE;
  escapeEnd = end + 1;
  if (!name.startsWith('#')) return namedEntity(name) ?? NONE;
  const isHex = /^#x[0-9a-f]+$/i.test(name);
  if (!isHex && !/^#[0-9]+$/.test(name)) return NONE;
  const value = isHex ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return value <= 0x10ffff ? value : NONE;
}

/** `\u{1f511}`: from after the brace. */
function readBraces(codes: Uint16Array, from: number): number {
  let value = 0;
  for (let i = from; i < from + 8; i++) {
    if (i >= codes.length) return OPEN;
    if (codes[i] === 125 && i > from) {
      escapeEnd = i + 1;
      return value <= 0x10ffff ? value : NONE;
    }
    const digit = digitOf(codes[i], 16);
    if (digit < 0) return NONE;
    value = value * 16 + digit;
  }
  return NONE;
}

function readHex(codes: Uint16Array, from: number, digits: number): number {
  let value = 0;
  for (let i = from; i < from + digits; i++) {
    if (i >= codes.length) return OPEN;
    const digit = digitOf(codes[i], 16);
    if (digit < 0) return NONE;
    value = value * 16 + digit;
  }
  escapeEnd = from + digits;
  return value <= 0x10ffff ? value : NONE;
}

type ByteReader = (codes: Uint16Array, i: number) => number;

const readHexByte: ByteReader = (codes, i) => {
  const isHex = codes[i] === BACKSLASH && (codes[i + 1] === 120 || i + 1 === codes.length);
  return isHex ? readHex(codes, i + 2, 2) : startsOpen(codes, i);
};

const readPercentByte: ByteReader = (codes, i) =>
  codes[i] === PERCENT ? readHex(codes, i + 1, 2) : startsOpen(codes, i);

const readOctalByte: ByteReader = (codes, i) => {
  if (codes[i] !== BACKSLASH) return startsOpen(codes, i);
  let value = 0;
  for (let at = i + 1; at < i + 4; at++) {
    if (at >= codes.length) return OPEN;
    const digit = digitOf(codes[at], 8);
    if (digit < 0) return NONE;
    value = value * 8 + digit;
  }
  escapeEnd = i + 4;
  return value <= 0xff ? value : NONE;
};

function startsOpen(codes: Uint16Array, i: number): number {
  return i >= codes.length ? OPEN : NONE;
}

/** One character: a byte of its own, or as many as UTF-8 needs. What is no UTF-8 is Latin-1, as Python prints texts. */
function readBytes(codes: Uint16Array, i: number, readByte: ByteReader): number {
  const first = readByte(codes, i);
  if (first < 0xc2 || first > 0xf4) return first;
  const afterFirst = escapeEnd;
  const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  let point = first & (0x3f >> more);
  for (let byte = 0; byte < more; byte++) {
    const next = readByte(codes, escapeEnd);
    if (next === OPEN) return OPEN;
    if (next < 0x80 || next > 0xbf) {
      escapeEnd = afterFirst;
      return first;
    }
    point = point * 64 + (next & 0x3f);
  }
  return point <= 0x10ffff ? point : NONE;
}

/** -1: no digit of that base. */
function digitOf(code: number | undefined, base: number): number {
  if (code === undefined) return -1;
  const digit = code >= 48 && code <= 57 ? code - 48 : code >= 65 && code <= 90 ? code - 55 : code - 87;
  const isDigit = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  return isDigit && digit < base ? digit : -1;
}
