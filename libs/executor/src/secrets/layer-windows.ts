// Finds the parts of a layer in which a form may begin that does not begin in the layer below: those around characters
// read from escapes. Everywhere else both layers have the same characters.
import type { TextLayer } from './text-layers.ts';
import {
  IS_BLANK,
  IS_BREAK,
  IS_DECIMAL,
  IS_DIGIT,
  IS_NIBBLE,
  IS_NUMBER_GAP,
  KEEPS_DIGITS,
  KEEPS_HEX,
  MARKS,
} from './unit-classes.ts';

/** Escapes nearer to each other than this share a window, since finding its ends costs as much as scanning it. */
const NEAR = 24;

/** One more unit than a form may have begun with before, and the zeros of `0x`; numbers have up to four digits. */
const CHARACTERS = 3;
const DIGITS = 3;
const NIBBLES = 9;
const DECIMALS = 16;

/** Calls `scan` with windows in order, without overlaps. The last one ends with the layer. */
export function windowsOf({ codes, ends }: TextLayer, scan: (from: number, to: number) => void): void {
  const { length } = codes;
  let from = -1;
  /** The certain end of the window. */
  let to = 0;
  for (let i = 0; i < ends.length; i += 2) {
    const end = ends[i] as number;
    // An escape beyond the first plane has two units.
    const start = Math.max(end - 2, 0);
    if (from >= 0 && start - to > NEAR) {
      to = headsEnd(codes, to);
      if (start > to) {
        const next = headsStart(codes, start, to);
        if (next > to) {
          scan(from, to);
          from = next;
        }
      }
    }
    if (from < 0) from = headsStart(codes, start, 0);
    to = end;
  }
  if (from >= 0) to = headsEnd(codes, to);
  const tail = headsStart(codes, length, Math.max(to, 0));
  if (from >= 0 && tail > to) scan(from, to);
  scan(from >= 0 && tail <= to ? from : tail, length);
}

/** Returns where heads that reach to `index` may begin: at least `limit`. */
function headsStart(codes: Uint16Array, index: number, limit: number): number {
  const left = new UnitsLeft();
  let at = index;
  while (at > limit && left.some()) left.pass(codes[--at] as number);
  return at;
}

/** Returns where heads that begin before `index` end. */
function headsEnd(codes: Uint16Array, index: number): number {
  const left = new UnitsLeft();
  let at = index;
  while (at < codes.length && left.some()) left.pass(codes[at++] as number);
  return at;
}

class UnitsLeft {
  private characters = CHARACTERS;
  private digits = DIGITS;
  private nibbles = NIBBLES;
  private decimals = DECIMALS;

  some(): boolean {
    return this.characters > 0 || this.digits > 0 || this.nibbles > 0 || this.decimals > 0;
  }

  pass(code: number): void {
    const marks = MARKS[code] as number;
    // Blanks may be an indent, which no form counts.
    if ((marks & (IS_BREAK | IS_BLANK)) !== 0) return;
    this.characters--;
    if ((marks & IS_DIGIT) !== 0) this.digits--;
    else if ((marks & KEEPS_DIGITS) === 0) this.digits = 0;
    if ((marks & IS_NIBBLE) !== 0) this.nibbles--;
    else if ((marks & KEEPS_HEX) === 0) this.nibbles = 0;
    if ((marks & IS_DECIMAL) !== 0) this.decimals--;
    else if ((marks & IS_NUMBER_GAP) === 0) this.decimals = 0;
  }
}
