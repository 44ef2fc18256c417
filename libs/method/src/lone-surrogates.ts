// Finds halves of surrogate pairs in values. JSON can spell them (`\\ud83d`), UTF-8 cannot: databases, protobuf and other
// readers of JSON refuse them, so a value that holds one is refused where it arises.
import { isWellFormed, wellFormed } from './cut-text.ts';
import { isJsonList, isJsonObject, type JsonValue, objectOf } from './json.ts';

/** JSON Pointer to the first text or name with half of a character; null: there is none. `json`: the value as JSON text. */
export function loneSurrogateIn(value: JsonValue, json: string): string | null {
  // Well-formed JSON text spells halves as escapes: most values need no second look.
  return json.includes('\\ud') ? find(value, '') : null;
}

function find(value: JsonValue, path: string): string | null {
  if (typeof value === 'string') return isWellFormed(value) ? null : path || '/';
  if (isJsonList(value)) {
    for (const [i, item] of value.entries()) {
      const found = find(item, `${path}/${i}`);
      if (found !== null) return found;
    }
  } else if (isJsonObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      const found = isWellFormed(name) ? find(field, `${path}/${name}`) : path || '/';
      if (found !== null) return found;
    }
  }
  return null;
}

/** With U+FFFD in the place of each half, for texts that are shown and not refused. */
export function wellFormedJson(value: JsonValue): JsonValue {
  return loneSurrogateIn(value, JSON.stringify(value)) === null ? value : replaced(value);
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value);
  if (isJsonList(value)) return value.map(replaced);
  if (!isJsonObject(value)) return value;
  return objectOf(Object.entries(value).map(([name, field]) => [wellFormed(name), replaced(field)] as const));
}
