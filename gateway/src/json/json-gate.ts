// Reads a request's JSON text and refuses what later parts cannot store: text that is not UTF-8, NUL, lone surrogates,
// numbers that lose digits, and deep nesting. Postgres refuses these in `jsonb`, and one refused row would fail a whole
// batch of other callers' runs.
import { isUtf8 } from 'node:buffer';
import { jsonWeight, WEIGHT_PER_MIB_MAX } from './json-weight.ts';

export const JSON_DEPTH_MAX = 64;

// In Unicode mode a pair is one character, so only an unpaired surrogate matches.
const LONE_SURROGATE = /\p{Surrogate}/u;
const UNPRINTABLE = /\p{Surrogate}|\p{Cc}/gu;

export interface JsonFault {
  /** JSON Pointer to the value; empty for the whole text. */
  readonly path: string;
  /** The kind of the fault. */
  readonly code: 'json' | 'utf8' | 'json_weight' | 'json_depth' | 'nul' | 'lone_surrogate' | 'number_range';
  readonly message: string;
}

export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: JsonFault };

/** Texts up to this size are cheap to parse with any content. */
const LIGHT_BYTES = 64 * 1024;

/** An object's own `__proto__` stays an own property, so members of the result must never be assigned one by one. */
export function readJson(bytes: Buffer, weightMax = WEIGHT_PER_MIB_MAX): JsonReading {
  if (bytes.length > LIGHT_BYTES && jsonWeight(bytes, weightMax) > weightMax) {
    return refused('json_weight', '', 'The body holds too many lists, objects and names.');
  }
  if (!isUtf8(bytes)) return refused('utf8', '', 'The body is not UTF-8.');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The engine's message quotes the body, so it is not passed on.
    return refused('json', '', 'The body is not JSON.');
  }
  // Valid UTF-8 holds no surrogates and JSON no raw NUL: only an escape can produce them.
  const inspection: Inspection = { strings: text.includes('\\u'), unsafeNumber: false };
  const fault = inspect(value, 1, inspection);
  if (fault) return { ok: false, fault };
  if (inspection.unsafeNumber && hasUnsafeInteger(text)) {
    return refused('number_range', '', 'A whole number is beyond ±(2^53 − 1).');
  }
  return { ok: true, value };
}

interface Inspection {
  /** Inspect strings and names too. */
  readonly strings: boolean;
  /** Set when a whole number beyond ±(2^53 − 1) was found; its spelling decides. */
  unsafeNumber: boolean;
}

// `depth` counts the lists and objects that hold the value, including itself; recursion ends at the limit.
function inspect(value: unknown, depth: number, inspection: Inspection): JsonFault | null {
  if (typeof value === 'string') return inspection.strings ? textFault(value) : null;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return fault('number_range', 'A number is too large.');
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) inspection.unsafeNumber = true;
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth > JSON_DEPTH_MAX) return fault('json_depth', `JSON nests at most ${JSON_DEPTH_MAX} deep.`);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = inspect(value[i], depth + 1, inspection);
      if (found) return below(String(i), found);
    }
    return null;
  }
  // Only own names, and reading by name is safe here: JSON.parse made `__proto__` an own property.
  for (const name of Object.keys(value)) {
    const found =
      (inspection.strings && textFault(name)) ||
      inspect((value as Record<string, unknown>)[name], depth + 1, inspection);
    if (found) return below(name, found);
  }
  return null;
}

function textFault(text: string): JsonFault | null {
  if (text.includes('\0')) return fault('nul', 'A text holds the character U+0000.');
  return LONE_SURROGATE.test(text) ? fault('lone_surrogate', 'A text holds half of a surrogate pair.') : null;
}

function below(name: string, found: JsonFault): JsonFault {
  const token = name.replaceAll(UNPRINTABLE, '\uFFFD').replaceAll('~', '~0').replaceAll('/', '~1');
  return { ...found, path: `/${token}${found.path}` };
}

function fault(code: JsonFault['code'], message: string): JsonFault {
  return { path: '', code, message };
}

function refused(code: JsonFault['code'], path: string, message: string): JsonReading {
  return { ok: false, fault: { path, code, message } };
}

// Looks for whole-number literals that a double cannot hold exactly. The parsed value does not show it:
// 9007199254740993 arrives as 9007199254740992, and 1e300 is a fine floating-point number.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** `text` is valid JSON. A literal with a fraction or an exponent is a floating-point number and passes. */
function hasUnsafeInteger(text: string): boolean {
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const literal = text.slice(at, end);
      if (!/[.eE]/.test(literal) && !Number.isSafeInteger(Number(literal))) return true;
      at = end;
    } else {
      at++;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text.charAt(at))) at++;
  return at;
}
