// Example inputs for pasted code: the required fields, each with a value of its type.
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  ownField,
} from '@methods/method/json';
import { numberOf, textOf } from '@methods/method/types/schema-keywords';

const LEVELS_MAX = 16;
const ITEMS_MAX = 3;

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '7d1f0c3a-5a43-4c66-9d2b-0f6f6e1f8a10',
};

/** Patterns are ignored: the author's `examples` are for that. */
export function exampleInputs(schema: JsonSchema): JsonObject {
  const definitions = ownField(schema, '$defs');
  const value = exampleOf(schema, isJsonObject(definitions) ? definitions : {}, 0);
  return isJsonObject(value) ? value : {};
}

function exampleOf(schema: JsonValue | undefined, definitions: JsonObject, level: number): JsonValue {
  if (!isJsonObject(schema) || level > LEVELS_MAX) return null;
  const given = ownField(schema, 'examples');
  if (isJsonList(given) && given[0] !== undefined) return given[0];
  for (const keyword of ['default', 'const']) {
    const value = ownField(schema, keyword);
    if (value !== undefined) return value;
  }
  const inner = (of: JsonValue | undefined) => exampleOf(of, definitions, level + 1);
  const name = /^#\/\$defs\/(.+)$/.exec(textOf(schema, '$ref'))?.[1];
  if (name !== undefined) return inner(ownField(definitions, name));
  for (const keyword of ['enum', 'anyOf', 'oneOf', 'allOf']) {
    const members = ownField(schema, keyword);
    if (!isJsonList(members)) continue;
    if (keyword === 'enum') return members[0] ?? null;
    return inner(members[0]);
  }
  const type = ownField(schema, 'type');
  switch (isJsonList(type) ? type[0] : type) {
    case 'string':
      return textFor(schema);
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return numberFor(schema);
    case 'array':
      return Array.from({ length: Math.min(numberOf(schema, 'minItems') ?? 1, ITEMS_MAX) }, () =>
        inner(ownField(schema, 'items')),
      );
    case 'object':
      return objectFor(schema, inner);
    default:
      return null;
  }
}

function objectFor(schema: JsonObject, inner: (of: JsonValue | undefined) => JsonValue): JsonObject {
  const properties = ownField(schema, 'properties');
  const required = ownField(schema, 'required');
  if (!isJsonObject(properties) || !isJsonList(required)) return {};
  const names = required.filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, inner(ownField(properties, name))])) as JsonObject;
}

function textFor(schema: JsonObject): string {
  const byFormat = BY_FORMAT[textOf(schema, 'format')];
  if (byFormat !== undefined) return byFormat;
  return 'text'
    .padEnd(Math.min(numberOf(schema, 'minLength') ?? 0, 80), ' text')
    .slice(0, numberOf(schema, 'maxLength'));
}

function numberFor(schema: JsonObject): number {
  const above = numberOf(schema, 'exclusiveMinimum');
  const least = above === undefined ? (numberOf(schema, 'minimum') ?? 1) : Math.floor(above) + 1;
  const most = numberOf(schema, 'maximum') ?? numberOf(schema, 'exclusiveMaximum');
  return most !== undefined && least > most ? most : Math.min(Math.max(least, 1), most ?? Number.POSITIVE_INFINITY);
}
