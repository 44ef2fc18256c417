// Owns the pieces editor schemas are put together from.
import type { JsonSchema, JsonValue } from '../json.ts';
import { objectOf } from '../json.ts';
import type { KeyTable } from '../structure/keys.ts';

/** A place for any JSON value. */
export const ANYTHING: JsonSchema = {};

/** A key's schema; the description is what an editor shows beside the key. */
export type KeySchema = readonly [description: string, schema: JsonSchema];

export function ref(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}

export function listOf(items: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: 'array', items, ...more };
}

export function mapOf(values: JsonSchema, more: JsonSchema = {}): JsonSchema {
  return { type: 'object', additionalProperties: values, ...more };
}

export function oneOf(...words: readonly JsonValue[]): JsonSchema {
  return { enum: words };
}

/**
 * A mapping with exactly the keys of its table. Each needs an entry in `keys`, so that no key of the language can be
 * forgotten here: a missing one throws.
 */
export function mapping(table: KeyTable, keys: Readonly<Record<string, KeySchema>>, more: JsonSchema = {}): JsonSchema {
  const properties = table.keys.map((key) => {
    const known = keys[key];
    if (!known) throw new Error(`the editor schema has nothing on "${key}" in ${table.what}`);
    const [description, schema] = known;
    return [key, { ...(description === '' ? {} : { description }), ...schema }] as const;
  });
  return {
    type: 'object',
    properties: objectOf(properties),
    additionalProperties: false,
    ...(table.extensible ? { patternProperties: { '^x-': {} } } : {}),
    ...more,
  };
}
