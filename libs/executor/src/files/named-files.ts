// Refuses values from outside of the worker that name a file of the run: an answer of a server or a person, and values
// of code other than the files it made or was given.
import { isJsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import { type FileValue, isFileShaped } from './file-value.ts';

interface Files {
  has(value: JsonValue): boolean;
}

/** `made`: the references themselves, as the worker put them into the value. @throws StepFailure of kind out. */
export function refuseNamedFiles(value: JsonValue, files: Files, made?: ReadonlySet<JsonValue>): void {
  if (typeof value !== 'object' || value === null || made?.has(value) === true) return;
  if (files.has(value)) {
    throw new StepFailure('out', 'The out names a file of the run by its path; only the worker makes such references');
  }
  for (const member of Object.values(value)) refuseNamedFiles(member, files, made);
}

/**
 * Replaces each file in `value` that code returns unchanged by the run's own reference. It is recognized by its
 * content: the path that code saw is a place on this machine, and a returned path is never read.
 */
export function withGivenFiles(value: JsonValue, given: readonly FileValue[], made: Set<JsonValue>): JsonValue {
  if (given.length === 0 || typeof value !== 'object' || value === null || made.has(value)) return value;
  if (!isJsonObject(value)) return value.map((item) => withGivenFiles(item, given, made));
  if (isFileShaped(value)) {
    const name = nameOf(value.path);
    const own = given.find((it) => it.sha256 === value.sha256 && it.bytes === value.bytes && nameOf(it.path) === name);
    if (own !== undefined && value.path !== own.path) {
      made.add(own);
      return own;
    }
  }
  return objectOf(Object.entries(value).map(([key, member]) => [key, withGivenFiles(member, given, made)] as const));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
