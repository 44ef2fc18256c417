// Takes declared secrets out of everything a run says: logs, errors, checks, questions. Also tells whether a value
// holds one, because an out that does must never be stored.
import { isJsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { spellingsOf } from './secret-spellings.ts';

export interface Mask {
  /** `text` with every spelling of every secret replaced by `***NAME***`. */
  text(text: string): string;
  /** The same in every text of a value, field names included. */
  json(value: JsonValue): JsonValue;
  /** Name of a secret the text holds in any spelling, or null. */
  finds(text: string): string | null;
  /** A mask for a text that comes in chunks. */
  stream(): MaskStream;
}

/** Holds back as much of each chunk as could be the beginning of a secret that the next chunk completes. */
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
  const names = new Map<string, string>();
  for (const [name, value] of secrets) {
    for (const spelling of spellingsOf(value)) if (!names.has(spelling)) names.set(spelling, name);
  }
  names.delete('');
  if (names.size === 0) return NOTHING_TO_MASK;
  // Longest first: at one place of the text the alternation takes the first that fits.
  const spellings = [...names.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(spellings.map(escapePattern).join('|'), 'g');
  const longest = spellings[0]?.length ?? 0;
  const isOfOneLine = spellings.every((spelling) => !spelling.includes('\n'));

  const text = (input: string) => input.replace(pattern, (found) => `***${names.get(found)}***`);
  return {
    text,
    json: (value) => maskJson(value, text),
    finds(input) {
      pattern.lastIndex = 0;
      const found = pattern.exec(input);
      return found === null ? null : (names.get(found[0]) ?? null);
    },
    stream: () => new OverlappingMask(pattern, names, longest, isOfOneLine),
  };
}

class OverlappingMask implements MaskStream {
  private held = '';

  constructor(
    private readonly pattern: RegExp,
    private readonly names: ReadonlyMap<string, string>,
    private readonly longest: number,
    /** No spelling goes on after the end of a line. */
    private readonly isOfOneLine: boolean,
  ) {}

  push(chunk: string): string {
    this.held += chunk;
    // A match that begins before this place is whole, as no spelling is longer; after it, it may still grow.
    const whole = this.held.length - this.longest + 1;
    // Whole lines at once, so that those of several sources do not end up in each other.
    const safe = this.isOfOneLine ? Math.max(whole, this.held.lastIndexOf('\n') + 1) : whole;
    return safe > 0 ? this.release(safe) : '';
  }

  end(): string {
    return this.release(this.held.length);
  }

  private release(before: number): string {
    let masked = '';
    let at = 0;
    this.pattern.lastIndex = 0;
    for (let found = this.pattern.exec(this.held); found !== null; found = this.pattern.exec(this.held)) {
      if (found.index >= before) break;
      masked += `${this.held.slice(at, found.index)}***${this.names.get(found[0])}***`;
      at = found.index + found[0].length;
    }
    if (at < before) {
      masked += this.held.slice(at, before);
      at = before;
    }
    this.held = this.held.slice(at);
    return masked;
  }
}

function maskJson(value: JsonValue, text: (text: string) => string): JsonValue {
  if (typeof value === 'string') return text(value);
  if (isJsonObject(value)) {
    return objectOf(Object.entries(value).map(([name, member]) => [text(name), maskJson(member, text)] as const));
  }
  if (typeof value === 'object' && value !== null) return value.map((item) => maskJson(item, text));
  return value;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
