// Compares a form with a text, from the place where its first units were found.
import type { Form } from './secret-forms.ts';
import { DIGITS, folded, GAP, HEX, NEITHER, NUMBERS, X } from './unit-classes.ts';

export const FAILED = -1;
/** The text ends before the form does. */
export const OPEN = -2;

/** How far the last form matched: its units, and the code after the last one. `steps`: all comparisons so far. */
export const reached = { units: 0, index: 0, steps: 0 };

/** The code after it, or FAILED, or OPEN. */
export function formEnd(form: Form, codes: Uint16Array, start: number, final: boolean): number {
  switch (form.kind) {
    case 'characters':
      return charactersEnd(form, codes, start);
    case 'digits':
      return digitsEnd(form.units, codes, start);
    case 'hex':
      return hexEnd(form.units, codes, start);
    case 'numbers':
      return numbersEnd(form.units, codes, start, final);
  }
}

/** The readings of escapes within a secret, in one comparison. */
const TURNS_MAX = 256;

function charactersEnd(form: Form, codes: Uint16Array, start: number): number {
  const { units, wraps, own } = form;
  const turns: { readonly unit: number; readonly i: number }[] = [];
  let turned = 0;
  let i = start;
  let unit = 0;
  let best = FAILED;
  for (;;) {
    reached.steps++;
    if (unit === units.length) return i;
    const code = codes[i];
    if (code === undefined) best = OPEN;
    const ways = own.size === 0 ? undefined : own.get(unit);
    for (const { read, end } of ways ?? []) {
      if (turned < TURNS_MAX && read.every((it, at) => folded(codes[i + at] ?? 0) === it)) {
        turns.push({ unit: end, i: i + read.length });
        turned++;
      }
    }
    if (code !== undefined && folded(code) === units[unit]) {
      i++;
      unit++;
      continue;
    }
    if (wraps && (code === 10 || code === 13)) {
      while (codes[i] === 10 || codes[i] === 13) i++;
      while (codes[i] === 32 || codes[i] === 9) i++;
      continue;
    }
    const turn = turns.pop();
    if (turn === undefined) return left(best, unit, i);
    ({ unit, i } = turn);
  }
}

function digitsEnd(units: Uint16Array, codes: Uint16Array, start: number): number {
  let i = start;
  let unit = 0;
  while (unit < units.length) {
    if (i >= codes.length) return left(OPEN, unit, i);
    const digit = classOf(DIGITS, codes[i]);
    if (digit === units[unit]) unit++;
    else if (digit !== GAP) return left(FAILED, unit, i);
    i++;
  }
  return i;
}

function hexEnd(units: Uint16Array, codes: Uint16Array, start: number): number {
  let i = start;
  let unit = 0;
  while (unit < units.length) {
    if (i + 1 >= codes.length) return left(OPEN, unit, i);
    const high = classOf(HEX, codes[i]);
    const low = classOf(HEX, codes[i + 1]);
    if (unit > 0 && high === 0 && low === X) i += 2;
    else if (unit > 0 && high === GAP) i += low === X ? 2 : 1;
    else if (high * 16 + low !== units[unit] || low > 15) return left(FAILED, unit, i);
    else {
      i += 2;
      unit++;
    }
  }
  return i;
}

function numbersEnd(units: Uint16Array, codes: Uint16Array, start: number, final: boolean): number {
  let i = start;
  let unit = 0;
  while (unit < units.length) {
    while (unit > 0 && classOf(NUMBERS, codes[i]) === GAP) i++;
    const from = i;
    let value = 0;
    for (let digit = classOf(NUMBERS, codes[i]); digit < 10 && i < from + 4; digit = classOf(NUMBERS, codes[i])) {
      value = value * 10 + digit;
      i++;
    }
    if (i >= codes.length && !(final && unit === units.length - 1 && i > from)) return left(OPEN, unit, i);
    const isNumber = i > from && classOf(NUMBERS, codes[i]) >= GAP;
    if (!isNumber || value !== units[unit]) return left(FAILED, unit, i);
    unit++;
    if (unit < units.length && classOf(NUMBERS, codes[i]) === NEITHER && i < codes.length) return left(FAILED, unit, i);
  }
  return i;
}

/** There is nothing beyond the end. */
function classOf(classes: Uint8Array, code: number | undefined): number {
  return code === undefined ? NEITHER : (classes[code] as number);
}

function left(how: number, units: number, index: number): number {
  reached.steps += units;
  reached.units = units;
  reached.index = index;
  return how;
}
