// Removes declared secrets from all texts of a run: logs, errors, checks, questions. Also detects values that hold one,
// because an out that does must never be stored.
import { isJsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { FinderStream } from './mask-stream.ts';
import { type Finding, SecretFinder } from './secret-finder.ts';
import { SECRET_CHARACTERS_MIN } from './secret-forms.ts';

export interface Mask {
  /** `text` with every form of every secret replaced by `***NAME***`. */
  text(text: string): string;
  /** The same in every text of a value, field names included. */
  json(value: JsonValue): JsonValue;
  /** Name of a secret the text holds in any form, or null. */
  finds(text: string): string | null;
  /** A mask for a text that comes in chunks. */
  stream(): MaskStream;
}

/** Holds back the part of each chunk that could be the beginning of a secret that the next chunk completes. */
export interface MaskStream {
  push(chunk: string): string;
  /** The rest. */
  end(): string;
}

const NOTHING_TO_MASK: Mask = {
  text: (text) => text,
  json: (value) => value,
  finds: () => null,
  stream: () => ({ push: (chunk) => chunk, end: () => '' }),
};

/** `secrets`: name to value. Values are at least 6 characters; the run has failed before otherwise. */
export function createMask(secrets: ReadonlyMap<string, string>): Mask {
  return secrets.size === 0 ? NOTHING_TO_MASK : maskOf(new SecretFinder(secrets));
}

/** Always uses the current secrets of its finder. */
export function maskOf(finder: SecretFinder): Mask {
  const text = (input: string) => {
    if (input.length < SECRET_CHARACTERS_MIN) return input;
    const { found } = finder.find(input, true);
    return found.length === 0 ? input : masked(input, found, 0, input.length);
  };
  return {
    text,
    json: (value) => maskJson(value, text),
    finds: (input) => finder.find(input, true).found[0]?.name ?? null,
    stream: () => new FinderStream(finder, masked),
  };
}

/** The part of `text` from `from` to `to`, without the found secrets. Secrets that overlap are both named. */
function masked(text: string, found: readonly Finding[], from: number, to: number): string {
  let shown = '';
  let at = from;
  let last: Finding | null = null;
  for (const finding of found) {
    const { name, start, end } = finding;
    if (start >= to) break;
    if (end <= at) continue;
    if (start > at) shown += text.slice(at, start);
    if (start >= at || last?.name !== name) shown += `***${name}***`;
    at = end;
    last = finding;
  }
  return at < to ? shown + text.slice(at, to) : shown;
}

function maskJson(value: JsonValue, text: (text: string) => string): JsonValue {
  if (typeof value === 'string') return text(value);
  if (isJsonObject(value)) {
    return objectOf(Object.entries(value).map(([name, member]) => [text(name), maskJson(member, text)] as const));
  }
  if (typeof value === 'object' && value !== null) return value.map((item) => maskJson(item, text));
  return value;
}
