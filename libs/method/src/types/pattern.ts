// Owns regular expressions of authors. RE2 syntax, matched in linear time: a pattern can never hang a server.
import { RE2JS } from 're2js';

const PATTERN_CHARACTERS_MAX = 500;
// Matching costs text length times program size in the worst case, so both are bounded.
const PROGRAM_SIZE_MAX = 2_000;
// Compiling costs some microseconds an instruction; a method's patterns together stay below a tenth of a second.
const BOOK_SIZE_MAX = 20_000;

export interface Pattern {
  readonly source: string;
  /** True when the pattern is found anywhere in the text; `^` and `$` anchor it. */
  readonly test: (text: string) => boolean;
  /** Instructions of the program: one character of text costs at most this much work. */
  readonly size: number;
}

/** A pattern that cannot be used; the message is a sentence for the author. */
export class PatternError extends Error {}

/** Compiles an author's pattern. Throws `PatternError`. */
export function compilePattern(source: string): Pattern {
  if (source.length > PATTERN_CHARACTERS_MAX) {
    throw new PatternError(`a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`);
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : 'the pattern cannot be read');
  }
  const size = compiled.programSize();
  if (size > PROGRAM_SIZE_MAX) throw new PatternError('the pattern is too large when its repetitions are written out');
  return { source, size, test: (text) => compiled.matcher(text).find() };
}

/** The patterns of one method: each compiled once, and bounded together. */
export class PatternBook {
  readonly #patterns = new Map<string, Pattern>();
  #size = 0;

  /** Throws `PatternError`. */
  compile(source: string): Pattern {
    const known = this.#patterns.get(source);
    if (known) return known;
    if (this.#size >= BOOK_SIZE_MAX) throw new PatternError('the patterns of this method are too large together');
    // A refused pattern has cost its compilation too.
    this.#size += PROGRAM_SIZE_MAX;
    const pattern = compilePattern(source);
    this.#size += pattern.size - PROGRAM_SIZE_MAX;
    this.#patterns.set(source, pattern);
    return pattern;
  }
}
