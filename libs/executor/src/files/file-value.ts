// File values, which of them belong to a run, and their media types. A file value is a reference that the worker
// created: one written by a caller, a person, a server or a step is data, and no path is ever read from it.
import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';

/** A file of the run: `path` is relative to the run's folder (`steps/<step>/files/<name>`), `sha256` is hex. */
export interface FileValue extends JsonObject {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
}

/** True for the shape of a file value, which any data may have. */
export function isFileShaped(value: JsonValue): value is FileValue {
  if (!isJsonObject(value)) return false;
  const { path, bytes, sha256 } = value;
  return typeof path === 'string' && typeof bytes === 'number' && typeof sha256 === 'string';
}

/** The files that the worker itself wrote, by path. */
export class KnownFiles {
  private readonly facts = new Map<string, FileFacts>();

  add(path: string, { bytes, sha256 }: FileFacts): void {
    this.facts.set(path, { bytes, sha256 });
  }

  /** Removes those whose path begins with `prefix`. Returns how many they are, and their bytes together. */
  drop(prefix: string): { readonly files: number; readonly bytes: number } {
    const dropped = { files: 0, bytes: 0 };
    for (const [path, { bytes }] of this.facts) {
      if (!path.startsWith(prefix)) continue;
      this.facts.delete(path);
      dropped.files++;
      dropped.bytes += bytes;
    }
    return dropped;
  }

  /** True for an exact reference to one of them: a path with another size or content is invented. */
  has(value: JsonValue): value is FileValue {
    if (!isFileShaped(value)) return false;
    const known = this.facts.get(value.path);
    return known !== undefined && known.bytes === value.bytes && known.sha256 === value.sha256;
  }
}

// Refuses values from outside the worker that name a file of the run: an answer of a server or a person, and values of
// code other than the files it created or was given.

interface Files {
  has(value: JsonValue): boolean;
}

/** `made`: the references that the worker put into the value. @throws StepFailure of kind out. */
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

// The media types of files that steps make, by their extension.

const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
};

/** `extension` with its dot. */
export function mediaTypeOf(extension: string): string {
  return BY_EXTENSION[extension.toLowerCase()] ?? 'application/octet-stream';
}
