// Keywords of a JSON Schema of any author: a value of another type counts as none.
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '../json.ts';

/** Empty: there is none. */
export function textOf(schema: JsonObject, keyword: string): string {
  const value = ownField(schema, keyword);
  return typeof value === 'string' ? value : '';
}

/** Undefined: there is none. */
export function numberOf(schema: JsonObject, keyword: string): number | undefined {
  const value = ownField(schema, keyword);
  return typeof value === 'number' ? value : undefined;
}

/** The schema at a keyword; undefined: there is none. */
export function partOf(schema: JsonObject, keyword: string): JsonObject | boolean | undefined {
  const part: JsonValue | undefined = ownField(schema, keyword);
  return isJsonObject(part) || typeof part === 'boolean' ? part : undefined;
}

/** For messages that people read: `1 item`, `2 items`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
