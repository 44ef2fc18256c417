// Owns the walk of a schema beside a value: which subschema rules which part. Knows the forms our types are written in.
import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';

/** The schema after `$ref`s into `$defs`; `null` where nothing stands. */
export function dereference(root: JsonSchema, schema: JsonValue | undefined): JsonObject | null {
  let current = schema;
  // Named types never refer to themselves; the bound only guards against foreign schemas.
  for (let hops = 0; hops < 100 && isJsonObject(current); hops++) {
    const reference = ownField(current, '$ref');
    if (typeof reference !== 'string') return current;
    const definitions = ownField(root, '$defs');
    current = isJsonObject(definitions) ? ownField(definitions, reference.replace('#/$defs/', '')) : undefined;
  }
  return null;
}

/** The subschema that rules `value`: the schema itself or its one `anyOf` branch for objects, or for lists. */
export function schemaFor(root: JsonSchema, schema: JsonValue | undefined, value: JsonValue): JsonObject | null {
  const resolved = dereference(root, schema);
  const branches = resolved === null ? undefined : ownField(resolved, 'anyOf');
  if (!isJsonList(branches)) return resolved;
  const wanted = isJsonList(value) ? 'array' : isJsonObject(value) ? 'object' : null;
  if (wanted === null) return null;
  const fitting = branches
    .map((branch) => schemaFor(root, branch, value))
    .filter((branch) => branch && allows(branch, wanted));
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

function allows(schema: JsonObject, wanted: string): boolean {
  const type = ownField(schema, 'type');
  return type === wanted || (isJsonList(type) && type.includes(wanted));
}

/** The declared properties of an object schema. */
export function propertiesOf(schema: JsonObject): JsonObject {
  const properties = ownField(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}
