// Owns how a typed text becomes the value of a field: a line on a terminal, or one control of a posted page.
import { type JsonValue, nestsDeeperThan } from '@methods/method/json';
import { type Field, shownValue } from './field.ts';

/**
 * The value of a typed text; undefined: the field is left out. Only the field's check decides whether the value fits,
 * so a text that cannot be read as the wanted kind is returned as text. A list or a group is read as JSON.
 */
export function valueOfText(field: Field, text: string): JsonValue | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return valueOfNothing(field);
  if (field.kind === 'text') return text;
  if (field.kind === 'choice') return chosen(field.choices, trimmed);
  if (field.kind === 'boolean') {
    if (/^(y|yes|true)$/i.test(trimmed)) return true;
    if (/^(n|no|false)$/i.test(trimmed)) return false;
  }
  if (field.kind === 'json' && field.orText) return text;
  try {
    const value: JsonValue = LARGE_NUMBER.test(trimmed) ? JSON.parse(trimmed, refuseInfinity) : JSON.parse(trimmed);
    // What reads it next may recurse.
    return nestsDeeperThan(value, LEVELS_MAX) ? text : value;
  } catch {
    return text;
  }
}

/**
 * The text as the formats of times want it: the controls of a browser give times without a zone, and the page says that
 * they are UTC.
 */
export function zonedText(field: Field, text: string): string {
  if (field.kind !== 'text' || field.format === null) return text;
  const trimmed = text.trim();
  const { format } = field;
  if (format === 'date-time' && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(trimmed)) return `${trimmed}:00Z`;
  if (format === 'date-time' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(trimmed)) return `${trimmed}Z`;
  if (format === 'time' && /^\d\d:\d\d$/.test(trimmed)) return `${trimmed}:00Z`;
  if (format === 'time' && /^\d\d:\d\d:\d\d(\.\d+)?$/.test(trimmed)) return `${trimmed}Z`;
  return trimmed;
}

/** As deep as the JSON of a request. */
const LEVELS_MAX = 64;

// JSON.parse reads them as Infinity, which JSON.stringify then writes as null.
const LARGE_NUMBER = /\d{300}|e\+?\d{3}/i;

function refuseInfinity(_name: string, value: JsonValue): JsonValue {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('a number is too large');
  return value;
}

function valueOfNothing(field: Field): JsonValue | undefined {
  if (field.default !== undefined || !field.required) return undefined;
  if (field.nullable) return null;
  return field.kind === 'list' ? [] : '';
}

/** The choice itself wins over its number: choices may be numbers. */
function chosen(choices: readonly JsonValue[], text: string): JsonValue {
  const named = choices.find((choice) => shownValue(choice).toLowerCase() === text.toLowerCase());
  if (named !== undefined) return named;
  return (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined) ?? text;
}
