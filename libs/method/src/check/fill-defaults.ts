// Owns the filling of defaults. Our own walk, because the validator's leaves `anyOf` branches out and changes its argument.
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, objectOf, ownField } from '../json.ts';
import { propertiesOf, schemaFor } from './schema-walk.ts';

/** A copy of `value` with the defaults of absent fields, sharing what did not change. Nothing is filled into a default. */
export function fillDefaults(schema: JsonSchema, value: JsonValue): JsonValue {
  return fill(schema, schema, value);
}

function fill(root: JsonSchema, schema: JsonValue | undefined, value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  const ruling = schemaFor(root, schema, value);
  if (ruling === null) return value;
  if (isJsonList(value)) {
    const items = ownField(ruling, 'items');
    if (!isJsonObject(items)) return value;
    const filled = value.map((item) => fill(root, items, item));
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }
  if (!isJsonObject(value)) return value;
  const properties = propertiesOf(ruling);
  const others = ownField(ruling, 'additionalProperties');
  let changed = false;
  const entries: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const filled = fill(root, ownField(properties, name) ?? others, item);
    changed ||= filled !== item;
    entries.push([name, filled]);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(value, name) || !isJsonObject(property)) continue;
    const fallback = ownField(property, 'default');
    if (fallback === undefined) continue;
    entries.push([name, fallback]);
    changed = true;
  }
  return changed ? objectOf(entries) : value;
}
