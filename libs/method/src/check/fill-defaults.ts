// Owns the filling of defaults, bounded while it happens: a few bytes given may ask for many times as much.
import { isJsonList, isJsonObject, type JsonValue, objectOf } from '../json.ts';
import type { Meter } from './effort.ts';
import type { SchemaNode } from './schema-node.ts';

/**
 * A copy of `value` with the defaults of absent fields, sharing what did not change. Nothing is filled into a default.
 * Recurses with the value: bound its depth first. Throws `EffortExhausted`.
 */
export function fillDefaults(node: SchemaNode, value: JsonValue, meter: Meter): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  meter.charge(2);
  if (isJsonList(value)) {
    const items = node.ruling('array', meter)?.items ?? null;
    if (items === null) return value;
    meter.charge(value.length);
    const filled = value.map((item) => fillDefaults(items, item, meter));
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }
  const ruling = node.ruling('object', meter);
  if (ruling === null || !isJsonObject(value)) return value;
  const { properties, others, fallbacks } = ruling;
  let entries: [string, JsonValue][] | null = null;
  const names = Object.keys(value);
  meter.charge(names.length + fallbacks.length);
  for (const [index, name] of names.entries()) {
    const item = value[name] ?? null;
    const part = properties.get(name) ?? others;
    const filled = part ? fillDefaults(part, item, meter) : item;
    if (filled === item) continue;
    entries ??= Object.entries(value);
    entries[index] = [name, filled];
  }
  for (const fallback of fallbacks) {
    if (Object.hasOwn(value, fallback.name)) continue;
    meter.chargeBytes(fallback.bytes);
    entries ??= Object.entries(value);
    entries.push([fallback.name, fallback.value]);
  }
  return entries === null ? value : objectOf(entries);
}
