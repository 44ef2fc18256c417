// Owns the collecting of diagnostics while one source is read.
import type { Diagnostic, Severity, SourcePlace } from '../diagnostic.ts';
import type { Range, SourceText } from './source-text.ts';

/** The optional fields of a finding besides its code, message and place. */
export interface FindingOptions {
  /** As a function when it is a guess among many words: only the first ones are asked. */
  readonly hint?: string | undefined | (() => string | undefined);
  readonly severity?: Severity;
}

// Far above the 100 given out, so that the sorted first ones are the right ones; bounded for hostile sources.
const COLLECTED_MAX = 2_000;
const ENOUGH = 200;
// A guess compares with up to 500 words; an author with more misspelt words has seen the right ones by then.
const GUESSES_MAX = 40;

export class Findings {
  readonly source: SourceText;
  readonly #errors: Diagnostic[] = [];
  readonly #warnings: Diagnostic[] = [];
  #guesses = 0;

  constructor(
    source: SourceText,
    readonly saved = false,
  ) {
    this.source = source;
  }

  get all(): Diagnostic[] {
    return [...this.#errors, ...this.#warnings];
  }

  get refused(): boolean {
    return this.#errors.length > 0;
  }

  /** True once there are so many errors that further ones do not help the author. */
  get enough(): boolean {
    return this.#errors.length >= ENOUGH;
  }

  add(code: string, message: string, path: string, range: Range, options: FindingOptions = {}): void {
    const severity = options.severity ?? 'error';
    const list = severity === 'error' ? this.#errors : this.#warnings;
    if (list.length >= COLLECTED_MAX) return;
    const hint = typeof options.hint === 'function' ? this.#guess(options.hint) : options.hint;
    list.push({ code, severity, message, ...this.place(path, range), ...(hint === undefined ? {} : { hint }) });
  }

  place(path: string, range: Range): SourcePlace {
    const start = this.source.positionOf(range[0]);
    const end = this.source.positionOf(Math.max(range[0], range[1]));
    return { path, line: start.line, column: start.column, end_line: end.line, end_column: end.column };
  }

  #guess(hint: () => string | undefined): string | undefined {
    return this.#guesses++ < GUESSES_MAX ? hint() : undefined;
  }

  /** For a rule that is newer than saved sources: those stay valid. */
  addAtSave(code: string, message: string, path: string, range: Range, hint?: string): void {
    this.add(code, message, path, range, { severity: this.saved ? 'warning' : 'error', hint });
  }

  warn(code: string, message: string, path: string, range: Range, hint?: string): void {
    this.add(code, message, path, range, { severity: 'warning', hint });
  }
}
