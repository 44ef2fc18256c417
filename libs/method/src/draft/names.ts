// Owns the names made from free text: small letters, digits and `_`, numbered where two would be the same.

const CHARACTERS_MAX = 60;

/** The words of a text joined by `_`, `fallback` when none is left; always a step's name. */
export function snakeName(text: string, fallback: string): string {
  const words = text
    .slice(0, 1_000)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
  const name = words.slice(0, CHARACTERS_MAX).replace(/^_+|_+$/g, '');
  if (name === '') return fallback;
  return /^[a-z]/.test(name) ? name : `${fallback.charAt(0)}_${name}`.slice(0, CHARACTERS_MAX).replace(/_+$/, '');
}

/** A method's name from free text. */
export function methodName(text: string, fallback: string): string {
  const name = snakeName(text, fallback).replaceAll('_', '-');
  return name.length > 1 ? name : `${name}-method`;
}

/** Hands out names: the second time `_2`, the third `_3`. */
export class NameBook {
  readonly #taken: Set<string>;
  /** The last number given for a name: counting from 2 each time would be quadratic. */
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  take(wanted: string, isFree: (name: string) => boolean = () => true): string {
    let name = wanted;
    for (let number = this.#numbers.get(wanted) ?? 1; this.#taken.has(name) || !isFree(name); ) {
      name = `${wanted}_${++number}`;
      this.#numbers.set(wanted, number);
    }
    this.#taken.add(name);
    return name;
  }
}
