// The forms in which a secret is searched for: its characters, and its bytes in base64, base32, hex and decimal.
// Escapes of characters are not forms, see text-layers.ts. Bytes inside a longer text shift against the digits of
// base64 and base32, so each shift is a separate form, without the digits that also depend on the neighbours.
import { escapeAt } from './read-escape.ts';
import { layersOf } from './text-layers.ts';
import { folded } from './unit-classes.ts';

/** Shorter texts would be found, and masked, throughout ordinary ones. */
export const SECRET_CHARACTERS_MIN = 6;
/** Of a secret of thousands of lines, the longest ones are each searched for separately. */
const PARTS_MAX = 1000;
/** As many of them also in base64, hex and the like. */
const ENCODED_PARTS_MAX = 60;
/** Short ones must be in one line: 123 and 456 below each other in a table are not a secret. */
const WRAPPED_MIN = 16;

export type FormKind = 'characters' | 'digits' | 'hex' | 'numbers';

export class Form {
  private whole: Uint16Array | null = null;

  constructor(
    readonly name: string,
    readonly kind: FormKind,
    /** Its units, at least the first `count` of them; all by default. */
    private readonly make: (count?: number) => Uint16Array,
    /** It may continue in the next line. */
    readonly wraps: boolean,
    /** If the secret holds an escape itself: its rest when those around it are read. */
    readonly own: ReadonlyMap<number, readonly OwnEscape[]> = NO_ESCAPES,
  ) {}

  /** Every way it may begin. */
  heads(count: number): readonly number[][] {
    return headsOf(this.make(count + ESCAPE_MAX), this.own, 0, count);
  }

  /** Built when its beginning is found, which is rare. */
  get units(): Uint16Array {
    this.whole ??= this.make();
    return this.whole;
  }
}

export interface OwnEscape {
  readonly read: readonly number[];
  readonly end: number;
}

const NO_ESCAPES: ReadonlyMap<number, readonly OwnEscape[]> = new Map();
/** Units of the longest escape that a head begins with. */
const ESCAPE_MAX = 64;

function headsOf(units: Uint16Array, own: Form['own'], from: number, count: number): number[][] {
  if (count <= 0 || from >= units.length) return [[]];
  const ways: OwnEscape[] = [{ read: [units[from] as number], end: from + 1 }, ...(own.get(from) ?? [])];
  return ways.flatMap(({ read, end }) =>
    headsOf(units, own, end, count - read.length).map((rest) => [...read, ...rest].slice(0, count)),
  );
}

/** The text that is searched for: lines may be wrapped and indented anywhere. */
export function withoutBreaks(text: string): string {
  return text.trim().replace(/[\r\n]+[ \t]*/g, '');
}

export function formsOf(name: string, value: string): Form[] {
  const whole = wellFormed(value);
  const parts = [...linesOf(whole), ...jsonMembersOf(whole)].sort((a, b) => b.length - a.length).slice(0, PARTS_MAX);
  const known = new Set<string>();
  const forms: Form[] = [];
  let encodedLeft = ENCODED_PARTS_MAX;
  for (const part of [value, whole, whole.trim(), ...parts]) {
    if (known.has(part)) continue;
    known.add(part);
    forms.push(...charactersOf(name, part, known));
    if (encodedLeft-- > 0) forms.push(...bytesOf(name, part));
  }
  return forms;
}

function* charactersOf(name: string, part: string, known: Set<string>): Generator<Form> {
  const plain = withoutBreaks(part);
  // Read as an escape by itself, twice and three times.
  const images = layersOf(plain).slice(1);
  for (const text of [plain, ...images.map(({ codes }) => Buffer.from(codes).toString('utf16le'))]) {
    const key = `=${text}`;
    if (text.length < SECRET_CHARACTERS_MIN || known.has(key)) continue;
    known.add(key);
    yield new Form(name, 'characters', (count) => codesOf(text.slice(0, count)), mayWrap(text, part), escapesOf(text));
  }
}

function escapesOf(text: string): ReadonlyMap<number, readonly OwnEscape[]> {
  if (!/[\\%&'"]/.test(text)) return NO_ESCAPES;
  const codes = Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  const escapes = new Map<number, OwnEscape[]>();
  for (let i = 0; i < codes.length; i++) {
    const found = escapeAt(codes, i);
    if (found === null) continue;
    const { value, end } = found;
    const read = [...String.fromCodePoint(value)].flatMap((it) => [...codesOf(it)]);
    const ways = [{ read, end }];
    // Quotes that are doubled after a backslash of the secret.
    if (value === 34 || value === 39) ways.push({ read: [value, value], end });
    escapes.set(i, ways);
  }
  return escapes;
}

/** Half a character has no bytes and cannot be spelled in a URL. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function mayWrap(text: string, part: string): boolean {
  return text.length >= WRAPPED_MIN || /[\r\n]/.test(part.trim());
}

function codesOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, i) => folded(text.charCodeAt(i)));
}

const BASE64_DIGITS = Uint16Array.from({ length: 64 }, (_, digit) => digit);
/** As the values that these digits have in base64. */
const BASE32_UPPER = Uint16Array.from({ length: 32 }, (_, digit) => (digit < 26 ? digit : digit + 28));
const BASE32_LOWER = Uint16Array.from({ length: 32 }, (_, digit) => (digit < 26 ? digit + 26 : digit + 28));

function* bytesOf(name: string, part: string): Generator<Form> {
  const bytes = Buffer.from(part);
  const units = (count?: number) => Uint16Array.from(count === undefined ? bytes : bytes.subarray(0, count));
  yield new Form(name, 'hex', units, true);
  yield new Form(name, 'numbers', units, true);
  // Credentials are put into a URL or into JSON before they become base64.
  const json = JSON.stringify(part).slice(1, -1);
  const form = encodeURIComponent(wellFormed(part));
  for (const text of new Set([part, json, form, form.replaceAll('%20', '+')])) {
    yield* shiftsOf(name, Buffer.from(text), 6, BASE64_DIGITS);
  }
  for (const digits of [BASE32_UPPER, BASE32_LOWER]) yield* shiftsOf(name, bytes, 5, digits);
}

function* shiftsOf(name: string, bytes: Buffer, bits: 5 | 6, digits: Uint16Array): Generator<Form> {
  const shifts = bits === 6 ? 3 : 5;
  for (let shift = 0; shift < shifts; shift++) {
    const first = Math.ceil((8 * shift) / bits);
    const end = Math.floor((8 * (shift + bytes.length)) / bits);
    const make = (count = end - first) => encoded(bytes, bits, digits, shift, first, Math.min(end, first + count));
    if (end - first >= SECRET_CHARACTERS_MIN) yield new Form(name, 'digits', make, true);
  }
  // Encoded by itself: with the last digit, which holds the last bits and zeros.
  const all = Math.ceil((8 * bytes.length) / bits);
  const whole = (count = all) => encoded(bytes, bits, digits, 0, 0, Math.min(all, count));
  if ((8 * bytes.length) % bits !== 0 && all >= SECRET_CHARACTERS_MIN) yield new Form(name, 'digits', whole, true);
}

/** The digits from `first` to before `end` of the bytes after `shift` others. */
function encoded(
  bytes: Buffer,
  bits: number,
  digits: Uint16Array,
  shift: number,
  first: number,
  end: number,
): Uint16Array {
  const units = new Uint16Array(end - first);
  for (let digit = first; digit < end; digit++) {
    const bit = digit * bits;
    const at = (bit >> 3) - shift;
    const two = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    units[digit - first] = digits[(two >> (16 - bits - (bit & 7))) & ((1 << bits) - 1)] as number;
  }
  return units;
}

/** A key file is often printed line by line. */
function linesOf(value: string): string[] {
  if (!/[\r\n]/.test(value)) return [];
  return value
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SECRET_CHARACTERS_MIN);
}

/** The texts inside a secret that is itself JSON, such as a service account's key. */
function jsonMembersOf(value: string): string[] {
  if (!/^\s*[[{]/.test(value)) return [];
  try {
    return textsIn(JSON.parse(value)).filter((text) => withoutBreaks(text).length >= SECRET_CHARACTERS_MIN);
  } catch {
    return [];
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...linesOf(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
