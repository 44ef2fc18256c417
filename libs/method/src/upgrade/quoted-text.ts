// Owns literals of python and node that hold pasted names: a literal of pieces and variables joined by `+`.
import type { PieceList } from './code-piece.ts';
import type { Paste } from './pasted-names.ts';

export interface Literal {
  /** Offsets of the whole literal, and of its text between the quotes. */
  readonly start: number;
  readonly end: number;
  readonly textStart: number;
  readonly textEnd: number;
  /** The opening and closing of a piece: prefix and quotes. */
  readonly open: string;
  readonly close: string;
  /** A piece of the text as it must be written between `open` and `close`. */
  readonly piece?: (text: string) => string;
  /** A variable beside a piece. */
  readonly variable?: (variable: string) => string;
}

export type FoundPaste = { readonly start: number; readonly paste: Paste };

/** Writes `x` for a literal that is one paste, else `("a " + x + " b")`. */
export function pasteIntoLiteral(list: PieceList, literal: Literal, found: readonly FoundPaste[]): void {
  const write = literal.variable ?? ((variable: string) => variable);
  const [first] = found;
  list.keep('code', literal.start);
  const isWhole = first && first.start === literal.textStart && first.paste.end === literal.textEnd;
  let at = literal.textStart;
  let parts = 0;
  if (!isWhole) list.insert('(');
  // In JavaScript `+` of two values adds numbers; texts are texts on both sides here, as all pasted values are.
  for (const { start, paste } of found) {
    if (start > at) {
      list.insert(`${parts++ > 0 ? ' + ' : ''}${piece(list.text.slice(at, start), literal)}`);
    }
    if (parts++ > 0) list.insert(' + ');
    list.paste(start, paste, write);
    at = paste.end;
  }
  if (at < literal.textEnd) list.insert(` + ${piece(list.text.slice(at, literal.textEnd), literal)}`);
  if (!isWhole) list.insert(')');
  list.skipTo(literal.end);
}

function piece(text: string, literal: Literal): string {
  return `${literal.open}${(literal.piece ?? closed)(text)}${literal.close}`;
}

/** A piece must not end in an open escape: it would swallow the quote that now follows it. */
export function closed(text: string): string {
  const backslashes = /\\*$/.exec(text)?.[0].length ?? 0;
  return backslashes % 2 === 0 ? text : `${text}\\`;
}
