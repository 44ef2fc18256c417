// Removes declared secrets from all texts of a run: logs, errors, checks, questions. Also detects values that hold one,
// because an out that does must never be stored.
import { isJsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { type Finding, SecretFinder } from './secret-finder.ts';
import { SECRET_CHARACTERS_MIN } from './secret-forms.ts';

export interface Mask {
  /** `text` with every form of every secret replaced by `***NAME***`. */
  text(text: string): string;
  /** The same in every text of a value, field names included. */
  json(value: JsonValue): JsonValue;
  /** Returns the name of a secret that the text contains in any form, or null. */
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

/** Returns the part of `text` from `from` to `to`, without the found secrets. Secrets that overlap are both named. */
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

/** A longer beginning of a secret is treated as the secret. */
const HELD_MAX = 1024 * 1024;
const CONTEXT_MAX = 256;
/** Lines of several sources are kept whole, unless they are too long. */
const LINE_MAX = 4096;
/** The held text is read again once it has grown by a fraction of itself, so that single characters cost no more. */
const REREAD_MIN = 4096;

type Masked = (text: string, found: readonly Finding[], from: number, to: number) => string;

/**
 * Masks a text that arrives in chunks. It holds back text from which a form may still grow: an unfinished line that
 * ends in the first few units of a form, and everything from the place where more than those were found. A finished
 * line that ends in the same few characters as the beginning of a form is shown at once, as nearly all lines are; if
 * the next line completes a secret, that one is masked from there on.
 */
class FinderStream implements MaskStream {
  /** The end of the shown text, where a secret may have begun; then the text not shown yet. */
  private text = '';
  private shown = 0;
  private read = 0;

  constructor(
    private readonly finder: SecretFinder,
    private readonly masked: Masked,
  ) {}

  push(chunk: string): string {
    this.text += chunk;
    const held = this.read - this.shown;
    const fresh = this.text.length - this.read;
    if (held > REREAD_MIN && fresh < held / 4) return '';
    return this.release(this.text.length - this.shown > HELD_MAX);
  }

  end(): string {
    return this.release(true);
  }

  private release(final: boolean): string {
    const { text, shown } = this;
    const { found, openAt, headAt } = this.finder.find(text, final);
    const hold = final ? text.length : this.holdFrom(found, openAt, headAt);
    const to = Math.max(shown, hold);
    const released = this.masked(text, found, shown, to);
    const context = final ? to : Math.max(Math.min(headAt, openAt, hold), to - CONTEXT_MAX);
    this.text = text.slice(context);
    this.shown = to - context;
    this.read = this.text.length;
    return released;
  }

  private holdFrom(found: readonly Finding[], openAt: number, headAt: number): number {
    const { text } = this;
    const lineAt = text.lastIndexOf('\n') + 1;
    let hold = Math.min(openAt, Math.max(headAt, lineAt));
    if (hold < lineAt) {
      const start = text.lastIndexOf('\n', hold - 1) + 1;
      if (hold - start <= LINE_MAX) hold = start;
    }
    // A form that continues after this place is not shown in part: found again, it begins at the same place.
    for (let i = found.length - 1; i >= 0; i--) {
      const { start, end } = found[i] as Finding;
      if (end > hold && start < hold) hold = start;
    }
    return hold;
  }
}
