// Owns the projection of a returned value onto what a step declares: the rest is dropped and named.
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  objectOf,
  ownField,
} from '../json.ts';
import { dereference, propertiesOf, schemaFor } from './schema-walk.ts';

export interface Projection {
  readonly value: JsonValue;
  /** Paths of dropped fields, such as `items[2].raw`; at most 100 of them. */
  readonly dropped: readonly string[];
}

const DROPPED_MAX = 100;
// Deeper parts are left as they are; the check that follows refuses them.
const LEVELS_MAX = 100;

/**
 * Keeps only declared fields, at any depth. A null in an optional field that is not nullable counts as absent and goes too,
 * silently: absent is null in this language.
 */
export function projectOut(schema: JsonSchema, value: JsonValue): Projection {
  const dropped: string[] = [];
  return { value: project(schema, schema, value, '', 0, dropped), dropped };
}

function project(
  root: JsonSchema,
  schema: JsonValue | undefined,
  value: JsonValue,
  path: string,
  level: number,
  dropped: string[],
): JsonValue {
  if (typeof value !== 'object' || value === null || level > LEVELS_MAX) return value;
  const ruling = schemaFor(root, schema, value);
  if (ruling === null) return value;
  if (isJsonList(value)) {
    const items = ownField(ruling, 'items');
    return items === undefined
      ? value
      : value.map((item, index) => project(root, items, item, `${path}[${index}]`, level + 1, dropped));
  }
  if (!isJsonObject(value)) return value;
  const properties = propertiesOf(ruling);
  const others = ownField(ruling, 'additionalProperties');
  const required = ownField(ruling, 'required');
  const kept: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const property = ownField(properties, name);
    if (property === undefined && others === false) {
      if (dropped.length < DROPPED_MAX) dropped.push(at.slice(0, 200));
      continue;
    }
    const optional = property !== undefined && !(isJsonList(required) && required.includes(name));
    if (item === null && optional && !allowsNull(root, property)) continue;
    kept.push([name, project(root, property ?? others, item, at, level + 1, dropped)]);
  }
  return objectOf(kept);
}

function allowsNull(root: JsonSchema, schema: JsonValue | undefined): boolean {
  const resolved: JsonObject | null = dereference(root, schema);
  if (resolved === null) return true;
  const branches = ownField(resolved, 'anyOf');
  if (isJsonList(branches)) return branches.some((branch) => allowsNull(root, branch));
  const values = ownField(resolved, 'enum');
  if (isJsonList(values)) return values.includes(null);
  const type = ownField(resolved, 'type');
  return type === undefined || type === 'null' || (isJsonList(type) && type.includes('null'));
}
