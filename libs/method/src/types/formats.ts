// Owns the string formats: date, date-time, time, email, uri, uuid, bounded so that no text makes a format slow.
import { fullFormats } from 'ajv-formats/dist/formats.js';

// The longest sensible value of each; the library's patterns are then never run on hostile lengths.
const CHARACTERS_MAX: Readonly<Record<string, number>> = {
  date: 10,
  'date-time': 64,
  time: 64,
  email: 254,
  uri: 8_192,
  uuid: 45,
};

/** True when `text` has the format; a format not listed here asks for nothing. */
export function hasFormat(format: string, text: string): boolean {
  const charactersMax = Object.hasOwn(CHARACTERS_MAX, format) ? CHARACTERS_MAX[format] : undefined;
  if (charactersMax === undefined) return true;
  if (text.length > charactersMax) return false;
  const definition: unknown = fullFormats[format as keyof typeof fullFormats];
  if (definition instanceof RegExp) return definition.test(text);
  if (typeof definition === 'function') return Boolean(definition(text));
  const { validate } = definition as { validate: RegExp | ((text: string) => boolean) };
  return validate instanceof RegExp ? validate.test(text) : validate(text);
}
