// Owns the runtime of expressions: fuel, errors without content, deep equality and the text form of scalars.
import type { Frame } from '../compiled-value.ts';
import { isJsonList, isJsonObject, type JsonValue, ownField } from '../json.ts';

/** Evaluation steps one value may take; bulk work is charged by its size. */
export const FUEL = 200_000;
/** Characters of a text an expression may make. */
const TEXT_CHARACTERS_MAX = 1_048_576;
const CHARACTERS_A_STEP = 32;

/**
 * An expression that failed on these values: fuel, a division by zero, a null, a text that is no number. The message names
 * the place in the expression, never the value. `kind` is the step error's kind.
 */
export class ExpressionError extends Error {
  readonly kind = 'expression';
}

/** Takes `steps` from the fuel. Call it before the work it pays for. */
export function charge(frame: Frame, steps: number): void {
  frame.fuel -= steps;
  if (frame.fuel < 0) throw new ExpressionError(`the expression takes more than ${FUEL} steps`);
}

/** Pays for making a text of this length, before it is made. */
export function chargeText(frame: Frame, characters: number): void {
  if (characters > TEXT_CHARACTERS_MAX)
    throw new ExpressionError(`a text has at most ${TEXT_CHARACTERS_MAX} characters`);
  charge(frame, Math.ceil(characters / CHARACTERS_A_STEP));
}

/**
 * Pays for writing a value, before it is written: an expression may name one large value in many places of a small one.
 * Recurses with the value.
 */
export function chargeParts(frame: Frame, value: JsonValue): void {
  if (typeof value === 'string') return charge(frame, 1 + Math.ceil(value.length / CHARACTERS_A_STEP));
  charge(frame, 1);
  if (typeof value !== 'object' || value === null) return;
  const parts = Object.values(value);
  // Names are written too.
  if (!isJsonList(value)) charge(frame, parts.length);
  for (const part of parts) chargeParts(frame, part);
}

/** Deep equality; the order of keys does not count. Charged a step for each part looked at. */
export function equal(frame: Frame, a: JsonValue, b: JsonValue): boolean {
  chargeComparison(frame, a, b);
  if (a === b) return true;
  if (isJsonList(a)) {
    return isJsonList(b) && a.length === b.length && a.every((item, index) => equal(frame, item, b[index] ?? null));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  charge(frame, 2 * names.length);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const other = ownField(b, name);
    return other !== undefined && equal(frame, a[name] ?? null, other);
  });
}

const COMPARED_CHARACTERS_A_STEP = 128;

/** Texts are compared character by character as far as they agree. */
export function chargeComparison(frame: Frame, a: JsonValue, b: JsonValue): void {
  const characters = typeof a === 'string' && typeof b === 'string' ? Math.min(a.length, b.length) : 0;
  charge(frame, 1 + Math.floor(characters / COMPARED_CHARACTERS_A_STEP));
}

/** The text of a scalar, as it is inserted into texts. */
export function scalarText(value: JsonValue, place: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new ExpressionError(`${place} is ${kindOf(value)}, which has no text form`);
}

export function expectNumber(value: JsonValue, place: string): number {
  if (typeof value === 'number') return value;
  throw new ExpressionError(`${place} is ${kindOf(value)}, not a number`);
}

export function expectText(value: JsonValue, place: string): string {
  if (typeof value === 'string') return value;
  throw new ExpressionError(`${place} is ${kindOf(value)}, not text`);
}

export function expectBoolean(value: JsonValue, place: string): boolean {
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(`${place} is ${kindOf(value)}, not true or false`);
}

export function expectList(value: JsonValue, place: string): readonly JsonValue[] {
  if (isJsonList(value)) return value;
  throw new ExpressionError(`${place} is ${kindOf(value)}, not a list`);
}

/** JSON has no infinity and no NaN, so neither may leave an operator. */
export function finite(value: number, place: string): number {
  if (Number.isFinite(value)) return value;
  throw new ExpressionError(`${place} is not a finite number`);
}

export function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isJsonList(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'true or false' : 'a number';
}
