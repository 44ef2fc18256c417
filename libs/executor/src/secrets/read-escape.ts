// Reads one escape of a text: the spellings of a character by common encoders (JSON, URLs, HTML, shells, CSV).
import { namedEntity } from './entities.ts';

const [QUOTE, PERCENT, AMPERSAND, APOSTROPHE, BACKSLASH] = [34, 37, 38, 39, 92];
/** 1 for the characters that an escape begins with, by UTF-16 code. */
export const LEADS = new Uint8Array(65_536);
for (const lead of [QUOTE, PERCENT, AMPERSAND, APOSTROPHE, BACKSLASH]) LEADS[lead] = 1;

const [HASH, SEMICOLON, LARGE_U, LARGE_X, SMALL_U, SMALL_X] = [35, 59, 85, 88, 117, 120];
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27, 0: 0 };
/** The character that a backslash and this one mean: letters and digits only mean controls. */
const AFTER_BACKSLASH = Int16Array.from({ length: 128 }, (_, next) => {
  const letter = String.fromCharCode(next);
  return CONTROLS[letter] ?? (/[A-Za-z0-9]/.test(letter) ? -1 : next);
});

const NONE = -1;
/** The text ends inside of a possible escape. */
export const OPEN = -2;
/** The end of the escape that was read last. */
export let escapeEnd = 0;

/** The escape at `index`: its character, and the index after it. Null: there is none. */
export function escapeAt(codes: Uint16Array, index: number): { readonly value: number; readonly end: number } | null {
  if (LEADS[codes[index] as number] === 0) return null;
  const value = readEscape(codes, index);
  return value < 0 ? null : { value, end: escapeEnd };
}

/** The code point of the escape at `i`, or NONE, or OPEN. */
export function readEscape(codes: Uint16Array, i: number): number {
  switch (codes[i]) {
    case BACKSLASH:
      return readBackslash(codes, i);
    case PERCENT:
      return readPercent(codes, i);
    case AMPERSAND:
      return readEntity(codes, i);
    case QUOTE:
      // Most represent themselves.
      return codes[i + 1] === QUOTE || i + 1 === codes.length ? readQuotes(codes, i, QUOTE) : NONE;
    default:
      return readQuotes(codes, i, APOSTROPHE);
  }
}

function readBackslash(codes: Uint16Array, i: number): number {
  if (i + 1 >= codes.length) return OPEN;
  const next = codes[i + 1] as number;
  switch (next) {
    case APOSTROPHE:
      // Within a shell's quotes a backslash is literal, even before an apostrophe that is written around them.
      if (shellQuoteEnd(codes, i + 1) > 0) return NONE;
      break;
    case SMALL_U:
      return codes[i + 2] === 123 ? readBraces(codes, i + 3) : readHex(codes, i + 2, 4);
    case LARGE_U:
      return readHex(codes, i + 2, 8);
    case SMALL_X:
      return readBytes(codes, i, readHexByte);
  }
  const mayBeOctal = next >= 48 && next <= 51 && (i + 2 >= codes.length || digitOf(codes[i + 2], 8) >= 0);
  if (mayBeOctal) return readBytes(codes, i, readOctalByte);
  escapeEnd = i + 2;
  return next < AFTER_BACKSLASH.length ? (AFTER_BACKSLASH[next] as number) : next;
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
  for (; end - i <= ENTITY_CHARACTERS_MAX; end++) {
    if (end >= codes.length) return OPEN;
    const code = codes[end] as number;
    if (code === SEMICOLON) break;
    if (code !== HASH && digitOf(code, 36) < 0) return NONE;
  }
  if (codes[end] !== SEMICOLON) return NONE;
  escapeEnd = end + 1;
  if (codes[i + 1] !== HASH) {
    let name = '';
    for (let at = i + 1; at < end; at++) name += String.fromCharCode(codes[at] as number);
    return namedEntity(name) ?? NONE;
  }
  const isHex = codes[i + 2] === SMALL_X || codes[i + 2] === LARGE_X;
  const from = isHex ? i + 3 : i + 2;
  const base = isHex ? 16 : 10;
  let value = from === end ? NONE : 0;
  for (let at = from; at < end && value >= 0; at++) {
    const digit = digitOf(codes[at], base);
    value = digit < 0 ? NONE : value * base + digit;
  }
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

/**
 * One character: a single byte, or as many as UTF-8 needs. Bytes that are not UTF-8 are read as Latin-1, as Python
 * prints texts.
 */
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
