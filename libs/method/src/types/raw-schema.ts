// Owns raw JSON Schema written by authors (`$schema` of a type): what is refused, and local references replaced in place.
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';
import { DIALECT } from './json-schema.ts';
import { type PatternBook, PatternError } from './pattern.ts';

// References can double at each step (`allOf: [ref, ref]`), so the written-out schema is bounded, not only the source.
const PARTS_MAX = 2_000;
const LEVELS_MAX = 32;

/** A raw schema that cannot be used; the message is for the author. */
export class RawSchemaError extends Error {}

// Keywords that make a schema depend on its place, reach outside, or run without a bound.
const REFUSED = new Set([
  '$id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$vocabulary',
]);

// Keywords whose value is data or names, not schemas: a property called `$ref` inside them is not a reference.
const SCHEMA_KEYWORDS = new Set(
  'items contains additionalProperties unevaluatedItems unevaluatedProperties propertyNames not if then else'.split(
    ' ',
  ),
);
const SCHEMA_LIST_KEYWORDS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMA_MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas']);

/** The schema without references, ready to be used anywhere inside another. Throws `RawSchemaError`. */
export function inlineSchema(root: JsonValue, patterns: PatternBook): JsonSchema {
  if (!isJsonObject(root)) throw new RawSchemaError('$schema holds a JSON Schema mapping');
  const written = new Inliner(root, patterns).schema(root, 0, []);
  return isJsonObject(written) ? written : {};
}

class Inliner {
  readonly #root: JsonObject;
  readonly #patterns: PatternBook;
  #parts = 0;

  constructor(root: JsonObject, patterns: PatternBook) {
    this.#root = root;
    this.#patterns = patterns;
  }

  schema(schema: JsonValue, level: number, open: readonly string[]): JsonValue {
    if (typeof schema === 'boolean') return schema ? {} : { not: {} };
    if (!isJsonObject(schema)) throw new RawSchemaError('a schema is a mapping');
    if (++this.#parts > PARTS_MAX)
      throw new RawSchemaError(`a schema has at most ${PARTS_MAX} parts, references written out`);
    if (level > LEVELS_MAX) throw new RawSchemaError(`a schema nests at most ${LEVELS_MAX} levels`);
    const written: [string, JsonValue][] = [];
    let referenced: JsonValue | undefined;
    for (const [keyword, value] of Object.entries(schema)) {
      if (REFUSED.has(keyword)) throw new RawSchemaError(`"${keyword}" is not available in $schema`);
      if (keyword === '$schema') {
        if (value !== DIALECT) throw new RawSchemaError('only JSON Schema 2020-12 is read');
      } else if (keyword === '$ref') referenced = this.#reference(value, level, open);
      else if (keyword !== '$defs' && keyword !== 'definitions') {
        written.push([keyword, this.#keyword(keyword, value, level, open)]);
      }
    }
    const own = Object.fromEntries(written) as JsonObject;
    if (referenced === undefined) return own;
    return written.length === 0
      ? referenced
      : { ...own, allOf: [referenced, ...(isJsonList(own.allOf) ? own.allOf : [])] };
  }

  #reference(value: JsonValue, level: number, open: readonly string[]): JsonValue {
    if (typeof value !== 'string' || !/^#(\/|$)/.test(value))
      throw new RawSchemaError('$ref may only point inside: #/$defs/…');
    if (open.includes(value)) throw new RawSchemaError('a schema must not refer to itself');
    let target: JsonValue | undefined = this.#root;
    for (const part of value.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (isJsonObject(target)) target = ownField(target, name);
      else target = isJsonList(target) && /^\d+$/.test(name) ? target[Number(name)] : undefined;
    }
    if (target === undefined) throw new RawSchemaError(`$ref ${value.slice(0, 80)} points to nothing`);
    return this.schema(target, level + 1, [...open, value]);
  }

  #keyword(keyword: string, value: JsonValue, level: number, open: readonly string[]): JsonValue {
    if (SCHEMA_KEYWORDS.has(keyword)) return this.schema(value, level + 1, open);
    if (SCHEMA_LIST_KEYWORDS.has(keyword)) {
      if (!isJsonList(value) || value.length === 0) throw new RawSchemaError(`"${keyword}" is a list of schemas`);
      return value.map((item) => this.schema(item, level + 1, open));
    }
    if (SCHEMA_MAP_KEYWORDS.has(keyword)) {
      if (!isJsonObject(value)) throw new RawSchemaError(`"${keyword}" is a mapping of schemas`);
      const entries = Object.entries(value);
      if (keyword === 'patternProperties') for (const [pattern] of entries) this.#checkPattern(pattern);
      for (const [name] of entries)
        if (name === '__proto__') throw new RawSchemaError('"__proto__" cannot be a property');
      return Object.fromEntries(entries.map(([name, item]) => [name, this.schema(item, level + 1, open)]));
    }
    if (keyword === 'pattern') {
      if (typeof value !== 'string') throw new RawSchemaError('"pattern" is text');
      this.#checkPattern(value);
    }
    return value;
  }

  #checkPattern(pattern: string): void {
    try {
      this.#patterns.compile(pattern);
    } catch (error) {
      if (error instanceof PatternError) throw new RawSchemaError(error.message);
      throw error;
    }
  }
}
