// File values, and which of them are a run's own. A file value is a reference that the worker made: one written by a
// caller, a person, a server or a step is data, and no path is ever read from it.
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';

/** A file of the run: `path` is relative to the run's folder (`steps/<step>/files/<name>`), `sha256` is hex. */
export interface FileValue extends JsonObject {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

export interface FileFacts {
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

  /** Removes those whose path begins with `prefix`. */
  drop(prefix: string): void {
    for (const path of this.facts.keys()) if (path.startsWith(prefix)) this.facts.delete(path);
  }

  /** True for a reference to one of them, whole: a path with another size or content is made up. */
  has(value: JsonValue): value is FileValue {
    if (!isFileShaped(value)) return false;
    const known = this.facts.get(value.path);
    return known !== undefined && known.bytes === value.bytes && known.sha256 === value.sha256;
  }
}
