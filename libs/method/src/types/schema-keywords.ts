// Keywords of a JSON Schema that anybody may have written: a value of another type counts as none.
import { type JsonObject, ownField } from '../json.ts';

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
