// The passes over a text that take most of the time of masking. Each combines the last few units of one kind at every
// character, and checks whether a form begins with them. One loop for each kind, with the tables in local variables,
// takes half the time of one loop for all.
import type { Form, FormKind } from './secret-forms.ts';
import {
  charactersBack,
  DIGITS,
  digitsBack,
  HEX,
  IS_BLANK,
  IS_BREAK,
  IS_DECIMAL,
  IS_DIGIT,
  IS_NIBBLE,
  IS_NUMBER_GAP,
  IS_X,
  KEEPS_DIGITS,
  KEEPS_HEX,
  MARKS,
  numbersBack,
} from './unit-classes.ts';

const SLOT_SHIFT = 32 - 14;
const SPREAD = 0x9e3779b1;

const FIRST_UNITS: Readonly<Record<FormKind, number>> = { characters: 4, digits: 4, hex: 3, numbers: 3 };
const UNIT_BITS: Readonly<Record<FormKind, number>> = { characters: 8, digits: 6, hex: 8, numbers: 8 };

const NONE: readonly Form[] = [];

/** Looks up the forms that begin with some units. Usually there is none, which costs one look-up in 16 KiB. */
export class HeadIndex {
  /** By the hash of a key: a bit for each of the last three bits of those keys that some form has. */
  readonly slots = new Uint8Array(1 << (32 - SLOT_SHIFT));
  private readonly forms = new Map<number, Form[]>();

  constructor(private readonly kind: FormKind) {}

  add(form: Form): void {
    for (const key of new Set(form.heads(FIRST_UNITS[this.kind]).flatMap((head) => this.keysOf(head)))) {
      (this.slots[Math.imul(key, SPREAD) >>> SLOT_SHIFT] as number) |= 1 << (key & 7);
      const same = this.forms.get(key);
      if (same === undefined) this.forms.set(key, [form]);
      else same.push(form);
    }
  }

  /** The variant for the passes' frequent look-ups. */
  mayHave(key: number): boolean {
    return ((this.slots[Math.imul(key, SPREAD) >>> SLOT_SHIFT] as number) & (1 << (key & 7))) !== 0;
  }

  get(key: number): readonly Form[] {
    return this.forms.get(key) ?? NONE;
  }

  /** A blank is looked up as itself and as a plus, which saves a look-up at each character of a pass. */
  private keysOf(head: readonly number[]): number[] {
    const bits = UNIT_BITS[this.kind];
    const mask = (1 << bits) - 1;
    let keys = [0];
    for (const unit of head) {
      const written = this.kind === 'characters' && unit === BLANK ? [BLANK, PLUS] : [unit & mask];
      keys = keys.flatMap((key) => written.map((it) => (key << bits) | it));
    }
    return keys;
  }
}

export type Heads = Readonly<Record<FormKind, HeadIndex>>;

/** `start`: the place of the first unit. */
export type Found = (forms: readonly Form[], start: number) => void;

const [LINE_FEED, CARRIAGE_RETURN, BLANK, PLUS, ZERO, BACKSLASH] = [10, 13, 32, 43, 48, 92];

/**
 * Scans from `from` to before `to`. Returns the beginning of the last few units before `to` with which a form may
 * begin.
 */
export function scanHeads(codes: Uint16Array, from: number, to: number, heads: Heads, found: Found): number {
  return Math.min(
    scanCharacters(codes, from, to, heads.characters, found),
    scanDigits(codes, from, to, heads.digits, found),
    scanHexAndNumbers(codes, from, to, heads, found),
  );
}

function tell(forms: readonly Form[], start: number, found: Found): void {
  if (forms.length > 0) found(forms, start);
}

type Scan = (codes: Uint16Array, from: number, to: number, heads: HeadIndex, found: Found) => number;

const scanCharacters: Scan = (codes, from, to, heads, found) => {
  const { slots } = heads;
  const marksOf = MARKS;
  let key = 0;
  for (let i = from; i < to; i++) {
    const code = codes[i] as number;
    if (code <= CARRIAGE_RETURN && (code === LINE_FEED || code === CARRIAGE_RETURN)) {
      while (i + 1 < to && ((marksOf[codes[i + 1] as number] as number) & (IS_BREAK | IS_BLANK)) !== 0) i++;
      continue;
    }
    key = (key << 8) | (code & 255);
    if (((slots[Math.imul(key, SPREAD) >>> SLOT_SHIFT] as number) & (1 << (key & 7))) !== 0)
      tell(heads.get(key), charactersBack(codes, i, 3), found);
  }
  return charactersBack(codes, to, 3);
};

const scanDigits: Scan = (codes, from, to, heads, found) => {
  const { slots } = heads;
  const marksOf = MARKS;
  let key = 0;
  let count = 0;
  for (let i = from; i < to; i++) {
    const marks = marksOf[codes[i] as number] as number;
    if ((marks & IS_DIGIT) !== 0) {
      key = ((key << 6) | ((marks >>> 8) & 63)) & 0xffffff;
      count++;
      if (((slots[Math.imul(key, SPREAD) >>> SLOT_SHIFT] as number) & (1 << (key & 7))) !== 0 && count >= 4)
        tell(heads.get(key), digitsBack(codes, i, 3, DIGITS), found);
    } else if ((marks & KEEPS_DIGITS) === 0) {
      count = 0;
    }
  }
  return digitsBack(codes, to, Math.min(count, 3), DIGITS);
};

/** Includes decimal numbers, whose digits are also digits of hex, and whose gaps are the same. */
function scanHexAndNumbers(codes: Uint16Array, from: number, to: number, heads: Heads, found: Found): number {
  const { hex } = heads;
  const { slots } = hex;
  const marksOf = MARKS;
  const numbers = new NumberRun(codes, from);
  let key = 0;
  let count = 0;
  for (let i = from; i < to; i++) {
    const marks = marksOf[codes[i] as number] as number;
    if ((marks & IS_NIBBLE) !== 0) {
      key = ((key << 4) | ((marks >>> 16) & 15)) & 0xffffff;
      count++;
      if (count >= 6 && ((slots[Math.imul(key, SPREAD) >>> SLOT_SHIFT] as number) & (1 << (key & 7))) !== 0) {
        tell(hex.get(key), digitsBack(codes, i, 5, HEX), found);
      }
    } else if ((marks & KEEPS_HEX) === 0) {
      count = 0;
    } else if ((marks & IS_NUMBER_GAP) !== 0) {
      if (i === from || ((marksOf[codes[i - 1] as number] as number) & IS_DECIMAL) === 0) continue;
      if (numbers.endsAt(i) >= 3 && heads.numbers.mayHave(numbers.key)) {
        tell(heads.numbers.get(numbers.key), numbersBack(codes, i, 3), found);
      }
    } else if ((marks & IS_X) !== 0) {
      if (count > 0 && codes[i - 1] === ZERO) {
        // The zero of `0x` is not a digit of the bytes.
        count = Math.min(count, 6) - 1;
        key >>>= 4;
      } else if (codes[i - 1] !== BACKSLASH) {
        count = 0;
      }
    }
  }
  return Math.min(digitsBack(codes, to, Math.min(count, 5), HEX), numbers.openFrom(to));
}

/** Decimal numbers with only gaps between them. */
class NumberRun {
  /** The key of the last three numbers. */
  key = 0;
  private count = 0;
  /** After the last number. */
  private end: number;

  constructor(
    private readonly codes: Uint16Array,
    from: number,
  ) {
    this.end = from;
  }

  /** A number ends before the gap at `end`. Returns how many follow one another. */
  endsAt(end: number): number {
    const start = this.numberBefore(end);
    if (!this.followsAt(start)) this.count = 0;
    let value = 0;
    for (let i = start; i < end && value < 256; i++) value = value * 10 + (this.codes[i] as number) - ZERO;
    this.count = value > 255 ? 0 : this.count + 1;
    this.key = ((this.key << 8) | value) & 0xffffff;
    this.end = end;
    return this.count;
  }

  /** Returns the beginning of the numbers with which a form may begin, the last of which may continue at `to`. */
  openFrom(to: number): number {
    const start = this.numberBefore(to);
    const count = this.followsAt(start) ? Math.min(this.count, 2) : 0;
    return numbersBack(this.codes, to, count + (start < to ? 1 : 0));
  }

  private numberBefore(end: number): number {
    let start = end;
    while (start > this.end && ((MARKS[this.codes[start - 1] as number] as number) & IS_DECIMAL) !== 0) start--;
    return start;
  }

  /** Reports whether there are only gaps between the last number and `start`. */
  private followsAt(start: number): boolean {
    for (let i = start; i > this.end; i--) {
      if (((MARKS[this.codes[i - 1] as number] as number) & IS_NUMBER_GAP) === 0) return false;
    }
    return true;
  }
}
