// Owns a text form of JSON values that is equal exactly when the values are, whatever the order of keys.
import { isJsonList, isJsonObject, type JsonValue } from '../json.ts';

/** The value as JSON with sorted keys. Recurses with the value: bound its depth first. */
export function canonicalText(value: JsonValue): string {
  if (isJsonList(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value).sort();
  return `{${entries.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`).join(',')}}`;
}
