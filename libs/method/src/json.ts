// Owns the JSON vocabulary of this package: what a value is, and the two ways of touching one safely.

/** Any JSON value. Absent is `null`; `undefined`, NaN and infinities never appear. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Read fields with `ownField`: authors and callers choose the names, `constructor` included. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A JSON Schema 2020-12 object (never the boolean form). */
export type JsonSchema = JsonObject;

/** True for an object that is neither a list nor null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a list. (`Array.isArray` does not narrow readonly lists.) */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The own field `name`, or undefined; inherited names such as `toString` are never seen. */
export function ownField(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Builds an object whose every key is an own field, `__proto__` included (an assignment would set the prototype). */
export function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  return Object.fromEntries(entries) as JsonObject;
}

/** True when lists and objects nest deeper than `levelsMax`. Iterative, so hostile depth cannot overflow the stack. */
export function nestsDeeperThan(value: JsonValue, levelsMax: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levelsMax) return true;
    const below: JsonValue[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const child of Object.values(item)) if (typeof child === 'object' && child !== null) below.push(child);
    }
    level = below;
  }
  return false;
}
