// The way back from the last of some units to the first of them. A pass over a text does not record where each unit
// begins: only one in many thousands is needed.
import { GAP, NUMBERS, X } from './unit-classes.ts';

/** Where the character begins that is `count` characters before `index`; breaks of lines and indents do not count. */
export function charactersBack(codes: Uint16Array, index: number, count: number): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; left--) at = beforeBreak(codes, at) - 1;
  return Math.max(at, 0);
}

/** `index`, or the place before the line break and the indent that end there. */
function beforeBreak(codes: Uint16Array, index: number): number {
  let at = index;
  for (;;) {
    let indent = at;
    while (codes[indent - 1] === 32 || codes[indent - 1] === 9) indent--;
    if (codes[indent - 1] !== 10 && codes[indent - 1] !== 13) return at;
    at = indent;
    while (codes[at - 1] === 10 || codes[at - 1] === 13) at--;
  }
}

/** The place of the digit that is `count` digits before `index`, with gaps between them. */
export function digitsBack(codes: Uint16Array, index: number, count: number, classes: Uint8Array): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; ) {
    const digit = classes[codes[--at] as number] as number;
    if (digit < GAP) left--;
    else if (digit === X && codes[at - 1] === 48) at--;
  }
  return at;
}

/** The place of the number that is `count` numbers before `index`. */
export function numbersBack(codes: Uint16Array, index: number, count: number): number {
  let at = index;
  for (let left = count; left > 0 && at > 0; left--) {
    while (at > 0 && (NUMBERS[codes[at - 1] as number] as number) >= GAP) at--;
    while (at > 0 && (NUMBERS[codes[at - 1] as number] as number) < GAP) at--;
  }
  return at;
}
