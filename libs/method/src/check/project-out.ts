// Owns the projection of a returned value onto what a step declares: the rest is dropped and named.
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, objectOf } from '../json.ts';
import { Meter } from './effort.ts';
import { SchemaBook, type SchemaNode } from './schema-node.ts';

export interface Projection {
  readonly value: JsonValue;
  /** Paths of dropped fields, such as `items[2].raw`; at most 100 of them. */
  readonly dropped: readonly string[];
}

const DROPPED_MAX = 100;
// Deeper parts are left as they are; the check that follows refuses them.
const LEVELS_MAX = 100;

interface Walk {
  readonly meter: Meter;
  readonly dropped: string[];
}

// Linear in the value and the schema, and only for what a method's own step gave: nothing is refused here.
const UNBOUNDED = { stepsMax: Number.POSITIVE_INFINITY, addedBytesMax: 0 };

// Each step projects each of its outs with the same schema.
const books = new WeakMap<JsonSchema, SchemaBook>();

/**
 * Keeps only declared fields, at any depth. A null in an optional field that is not nullable counts as absent and goes too,
 * silently: absent is null in this language.
 */
export function projectOut(schema: JsonSchema, value: JsonValue): Projection {
  const book = books.get(schema) ?? new SchemaBook(schema);
  books.set(schema, book);
  const dropped: string[] = [];
  return { value: project(book.root, value, { meter: new Meter(UNBOUNDED), dropped }, '', 0), dropped };
}

function project(node: SchemaNode, value: JsonValue, walk: Walk, path: string, level: number): JsonValue {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  const { meter, dropped } = walk;
  if (isJsonList(value)) {
    const items = node.ruling('array', meter)?.items;
    return items ? value.map((item, index) => project(items, item, walk, `${path}[${index}]`, level + 1)) : value;
  }
  const ruling = node.ruling('object', meter);
  if (ruling === null || !isJsonObject(value)) return value;
  const { properties, others, required } = ruling;
  const kept: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const property = properties.get(name);
    if (property === undefined && others === false) {
      if (dropped.length < DROPPED_MAX) dropped.push(at.slice(0, 200));
      continue;
    }
    if (item === null && property !== undefined && !required.has(name) && !property.allowsNull()) continue;
    const part = property ?? others;
    kept.push([name, part ? project(part, item, walk, at, level + 1) : item]);
  }
  return objectOf(kept);
}
