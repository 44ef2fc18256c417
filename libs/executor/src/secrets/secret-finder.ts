// Finds every form of every secret in a text, in time that grows with the text and hardly with the secrets: it passes
// once over each layer of the text, looks up the last few units among the beginnings of all forms, and compares only
// where one is found.
import { FAILED, formEnd, OPEN, reached } from './form-match.ts';
import { HeadIndex } from './head-index.ts';
import { type Form, type FormKind, folded, formsOf } from './secret-forms.ts';
import { layersOf, placeOf, type TextLayer } from './text-layers.ts';
import { CLASSES, DIGITS, GAP, HEX, NEITHER, X } from './unit-classes.ts';
import { charactersBack, digitsBack, numbersBack } from './units-back.ts';

export interface Finding {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface Findings {
  /** By their beginnings, the longest of each first. They may overlap. */
  readonly found: readonly Finding[];
  /** Where a form begins that the text's end cuts off; the text's length: none does. */
  readonly openAt: number;
  /** From here on stands what may be the first few units of a form. */
  readonly headAt: number;
}

/**
 * Comparisons that fail late cost more than the pass itself: a secret of 64 KiB of `a` in a text of `a`. After this
 * many units for each character, as many units of a secret as below count for the whole.
 */
const EFFORT_PER_CHARACTER = 8;
const EFFORT_MIN = 65_536;
const PART_UNITS_MIN = 256;

const FIRST_UNITS: Readonly<Record<FormKind, number>> = { characters: 4, digits: 4, hex: 3, numbers: 3 };
const UNIT_BITS: Readonly<Record<FormKind, number>> = { characters: 8, digits: 6, hex: 8, numbers: 8 };

const NEITHER_IN_HEX_NOR_NUMBERS = NEITHER | (NEITHER << 8);

export class SecretFinder {
  private readonly heads: Readonly<Record<FormKind, HeadIndex>> = {
    characters: new HeadIndex(),
    digits: new HeadIndex(),
    hex: new HeadIndex(),
    numbers: new HeadIndex(),
  };

  /** Name to value. */
  constructor(secrets: ReadonlyMap<string, string>) {
    for (const [name, value] of secrets) this.add(name, value);
  }

  add(name: string, value: string): void {
    for (const form of formsOf(name, value)) {
      for (const key of new Set(form.heads(FIRST_UNITS[form.kind]).map((head) => keyOf(form.kind, head)))) {
        this.heads[form.kind].add(key, form);
      }
    }
  }

  /** `final`: no more text follows. */
  find(text: string, final: boolean): Findings {
    const pass = new Pass(this.heads, text.length, final);
    for (const layer of layersOf(text, final)) pass.over(layer);
    pass.found.sort((a, b) => a.start - b.start || b.end - a.end);
    return pass;
  }
}

function keyOf(kind: FormKind, head: readonly number[]): number {
  const bits = UNIT_BITS[kind];
  const mask = (1 << bits) - 1;
  return head.reduce((key, unit) => (key << bits) | (unit & mask), 0);
}

class Pass implements Findings {
  readonly found: Finding[] = [];
  openAt: number;
  headAt: number;
  private effort: number;
  /** Up to where a form was compared in this layer: the same one is not looked for within itself. */
  private readonly compared = new Map<Form, number>();

  constructor(
    private readonly heads: Readonly<Record<FormKind, HeadIndex>>,
    length: number,
    private readonly final: boolean,
  ) {
    this.openAt = length;
    this.headAt = length;
    this.effort = EFFORT_MIN + EFFORT_PER_CHARACTER * length;
  }

  over(layer: TextLayer): void {
    this.compared.clear();
    if (layer.openAt >= 0) this.headAt = Math.min(this.headAt, layer.openAt);
    const head = Math.min(this.characters(layer), this.bytes(layer));
    this.headAt = Math.min(this.headAt, placeOf(layer, head));
  }

  /** Where the last few units begin that some form may begin with. */
  private characters(layer: TextLayer): number {
    const { codes } = layer;
    const heads = this.heads.characters;
    let key = 0;
    let isBroken = false;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      if (code === 10 || code === 13) {
        isBroken = true;
        continue;
      }
      if (isBroken) {
        if (code === 32 || code === 9) continue;
        isBroken = false;
      }
      key = (key << 8) | (folded(code) & 255);
      if (heads.has(key)) this.compare(heads.get(key), layer, charactersBack(codes, i, 3));
    }
    return charactersBack(codes, codes.length, 3);
  }

  /** In base64 and base32, in hex and in decimal, in one go: each character is looked up once. */
  private bytes(layer: TextLayer): number {
    const { codes } = layer;
    const { digits, hex, numbers } = this.heads;
    let [digitKey, hexKey, numberKey] = [0, 0, 0];
    let [digitCount, hexCount, numberCount] = [0, 0, 0];
    let number = -1;
    for (let i = 0; i < codes.length; i++) {
      const classes = CLASSES[codes[i] as number] as number;
      const digit = classes & 255;
      if (digit < GAP) {
        digitKey = ((digitKey << 6) | digit) & 0xffffff;
        if (++digitCount >= 4 && digits.has(digitKey)) {
          this.compare(digits.get(digitKey), layer, digitsBack(codes, i, 3, DIGITS));
        }
      } else if (digit === NEITHER) {
        digitCount = 0;
      }
      if (classes >>> 8 === NEITHER_IN_HEX_NOR_NUMBERS) {
        hexCount = 0;
        numberCount = 0;
        number = -1;
        continue;
      }
      const nibble = (classes >>> 8) & 255;
      if (nibble < 16) {
        hexKey = ((hexKey << 4) | nibble) & 0xffffff;
        if (++hexCount >= 6 && hex.has(hexKey)) this.compare(hex.get(hexKey), layer, digitsBack(codes, i, 5, HEX));
      } else if (nibble === X && hexCount > 0 && codes[i - 1] === 48) {
        // The zero of `0x` is no digit of the bytes.
        hexCount = Math.min(hexCount, 6) - 1;
        hexKey >>>= 4;
      } else if (nibble === NEITHER || (nibble === X && codes[i - 1] !== 92)) {
        hexCount = 0;
      }
      const decimal = classes >>> 16;
      if (decimal < 10) {
        number = number < 0 ? decimal : Math.min(number * 10 + decimal, 256);
      } else if (decimal === NEITHER) {
        numberCount = 0;
        number = -1;
      } else if (number >= 0) {
        numberKey = ((numberKey << 8) | number) & 0xffffff;
        numberCount = number > 255 ? 0 : numberCount + 1;
        number = -1;
        if (numberCount >= 3 && numbers.has(numberKey)) {
          this.compare(numbers.get(numberKey), layer, numbersBack(codes, i, 3));
        }
      }
    }
    const { length } = codes;
    return Math.min(
      digitsBack(codes, length, Math.min(digitCount, 3), DIGITS),
      digitsBack(codes, length, Math.min(hexCount, 5), HEX),
      numbersBack(codes, length, Math.min(numberCount, 2) + (number < 0 ? 0 : 1)),
    );
  }

  private compare(forms: readonly Form[], layer: TextLayer, start: number): void {
    for (const form of forms) {
      if ((this.compared.get(form) ?? 0) > start) continue;
      const { steps } = reached;
      let end = formEnd(form, layer.codes, start, this.final);
      this.effort -= reached.steps - steps;
      if (end === OPEN && !this.final) {
        this.openAt = Math.min(this.openAt, placeOf(layer, start));
        this.compared.set(form, layer.codes.length);
        continue;
      }
      if (end === OPEN || end === FAILED) {
        if (this.effort > 0 || reached.units < PART_UNITS_MIN) continue;
        end = reached.index;
      }
      this.compared.set(form, end);
      this.found.push({ name: form.name, start: placeOf(layer, start), end: placeOf(layer, end) });
    }
  }
}
