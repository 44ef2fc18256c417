// Owns the pieces of a workflow/1 script: those that stay, and the replacements of pasted names.
import type { Paste, PastedNames } from './pasted-names.ts';

export type Piece =
  /** Stays. Names in `code` belong to the script, so that no new variable may take them. */
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'paste';
      readonly paste: Paste;
      /** Offset in the script. */
      readonly start: number;
      /** The text in its place, given the variable that holds the value. */
      readonly write: (variable: string) => string;
      /** Why a person should look at it (U004). */
      readonly doubt?: string;
    }
  /** Stays, because nothing can be inserted there (U002). */
  | { readonly kind: 'stuck'; readonly paste: Paste; readonly start: number };

export interface ScannedScript {
  readonly pieces: readonly Piece[];
  /** False when the script's own quotes and brackets do not close: places after that are guesses. */
  readonly closes: boolean;
}

/** Collects pieces of one text; the rest becomes one long piece. */
export class PieceList {
  readonly pieces: Piece[] = [];
  readonly text: string;
  readonly names: PastedNames;
  #from = 0;

  constructor(text: string, names: PastedNames) {
    this.text = text;
    this.names = names;
  }

  /** Ends the piece under way at `to`. */
  keep(kind: 'code' | 'text', to: number): void {
    if (to > this.#from) this.pieces.push({ kind, text: this.text.slice(this.#from, to) });
    this.#from = Math.max(this.#from, to);
  }

  /** Puts a paste in; `from` is where the replaced text begins. The piece before it must have been kept. */
  paste(start: number, paste: Paste, write: (variable: string) => string, doubt?: string): void {
    this.pieces.push({ kind: 'paste', paste, start, write, ...(doubt === undefined ? {} : { doubt }) });
    this.#from = paste.end;
  }

  stuck(start: number, paste: Paste): void {
    this.keep('text', start);
    this.pieces.push({ kind: 'stuck', paste, start });
  }

  insert(text: string): void {
    this.pieces.push({ kind: 'text', text });
  }

  /** Continues at `at` without the text before it. */
  skipTo(at: number): void {
    this.#from = at;
  }
}
