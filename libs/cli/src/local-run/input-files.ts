// Files among the inputs of a run on this machine: they become files of the run before its first step.
import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '@methods/method/json';

/** In place of a step's path; no step can have the name. */
export function inputFile(number: number): string {
  return `@inputs/${number}`;
}

/** `value` with some of its objects replaced. */
export function withFiles(value: JsonValue, files: ReadonlyMap<JsonObject, JsonObject>): JsonValue {
  if (files.size === 0 || typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) return value.map((item) => withFiles(item, files));
  const file = files.get(value);
  if (file !== undefined) return file;
  return objectOf(Object.entries(value).map(([name, member]) => [name, withFiles(member, files)] as const));
}
