// Owns the characters of the type notation: words, numbers, ranges and literals, with offsets for messages.

/** A type text that cannot be read. `at` is an offset into the text; `code` the diagnostic's code. */
export class NotationError extends Error {
  readonly code: string;
  readonly at: number;
  readonly hint: string | undefined;

  constructor(code: string, message: string, at: number, hint?: string) {
    super(message);
    this.code = code;
    this.at = at;
    this.hint = hint;
  }
}

/** A cursor over one type text. */
export class NotationScanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at >= this.text.length;
  }

  fail(code: string, message: string, hint?: string, at = this.at): never {
    throw new NotationError(code, message, at, hint);
  }

  skipSpace(): void {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\n') this.at++;
  }

  /** Skips spaces and takes `literal` when it is next. */
  take(literal: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  peek(literal: string): boolean {
    this.skipSpace();
    return this.text.startsWith(literal, this.at);
  }

  /** Matches a sticky pattern at the cursor and moves past it. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  number(): number | undefined {
    // The fraction needs a digit after its point, so that `0..1` is a range and not `0.` and `.1`.
    const text = this.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    return text === undefined ? undefined : Number(text);
  }

  /** The rest in short, for messages. */
  rest(): string {
    const rest = this.text.slice(this.at, this.at + 20);
    return rest.length < this.text.length - this.at ? `${rest}…` : rest;
  }
}
