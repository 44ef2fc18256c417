// Owns pasted names in node: acorn separates literals, templates, patterns and code, with a placeholder for each name.
import { type Token, tokenizer, tokTypes } from 'acorn';
import { PieceList, type ScannedScript } from './code-piece.ts';
import type { PastedNames } from './pasted-names.ts';
import { type FoundPaste, pasteIntoLiteral } from './quoted-text.ts';

const BARE = 'was pasted as code; it is text now, as in Number(x) or JSON.parse(x)';

/** Splits a script. After a place that is no JavaScript, everything counts as code. */
export function scanNode(text: string, names: PastedNames): ScannedScript {
  const list = new PieceList(text, names);
  const pastes = names.all(text);
  const { tokens, closes } = tokensOf(text, pastes);
  let next = 0;
  for (const [index, token] of tokens.entries()) {
    while (isBefore(pastes[next], token.start)) next = passComment(list, pastes, next);
    const first = next;
    while (isBefore(pastes[next], token.end)) next++;
    const found = pastes.slice(first, next);
    if (token.type === tokTypes.string) pasteIntoString(list, token, found, isKey(tokens, index));
    else if (token.type === tokTypes.template) pasteIntoTemplate(list, token, found);
    else if (token.type === tokTypes.regexp && found.length > 0) pasteIntoPattern(list, token, found);
    else for (const { start, paste } of found) pasteBare(list, start, paste);
  }
  const end = tokens.at(-1)?.end ?? 0;
  for (const { start, paste } of pastes.slice(next)) {
    // Behind the last token there are only comments, unless the tokens broke off.
    if (!closes && start >= end) pasteBare(list, start, paste);
  }
  list.keep('code', text.length);
  return { pieces: list.pieces, closes };
}

/** A placeholder has the length of its name, so that every place stays the same, and is a word everywhere. */
function tokensOf(text: string, pastes: readonly FoundPaste[]): { tokens: Token[]; closes: boolean } {
  let at = 0;
  const parts: string[] = [];
  for (const { start, paste } of pastes) {
    parts.push(text.slice(at, start), '_'.repeat(paste.end - start));
    at = paste.end;
  }
  const tokens: Token[] = [];
  try {
    const options = { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true } as const;
    for (const token of tokenizer(parts.join('') + text.slice(at), options)) tokens.push(token);
    return { tokens, closes: true };
  } catch {
    return { tokens, closes: false };
  }
}

function isBefore(found: FoundPaste | undefined, end: number): found is FoundPaste {
  return found !== undefined && found.start < end;
}

/** Between tokens a paste can only be in a comment, where it stays. */
function passComment(list: PieceList, pastes: readonly FoundPaste[], index: number): number {
  const found = pastes[index];
  if (found) {
    list.keep('code', found.start);
    list.keep('text', found.paste.end);
  }
  return index + 1;
}

function pasteBare(list: PieceList, start: number, paste: FoundPaste['paste']): void {
  list.keep('code', start);
  list.paste(start, paste, (v) => v, BARE);
}

function pasteIntoString(list: PieceList, token: Token, found: readonly FoundPaste[], isKey: boolean): void {
  list.keep('code', token.start);
  if (found.length === 0) return list.keep('text', token.end);
  const quote = list.text.charAt(token.start);
  if (isKey) list.insert('[');
  pasteIntoLiteral(
    list,
    {
      start: token.start,
      end: token.end,
      textStart: token.start + 1,
      textEnd: token.end - 1,
      open: quote,
      close: quote,
    },
    found,
  );
  if (isKey) list.insert(']');
}

/** `{ "{{x}}": 1 }`: a literal before `:` that is neither of a `case` nor of a choice `a ? b : c` is a key. */
function isKey(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.type;
  return tokens[index + 1]?.type === tokTypes.colon && (before === tokTypes.braceL || before === tokTypes.comma);
}

function pasteIntoTemplate(list: PieceList, token: Token, found: readonly FoundPaste[]): void {
  list.keep('code', token.start);
  for (const { start, paste } of found) {
    // A backslash before it would take away the meaning of the `$`.
    const backslashes = /\\*$/.exec(list.text.slice(Math.max(token.start, start - 100), start))?.[0].length ?? 0;
    list.keep('text', start);
    list.paste(start, paste, (v) => `${backslashes % 2 === 0 ? '' : '\\'}\${${v}}`);
  }
  list.keep('text', token.end);
}

function pasteIntoPattern(list: PieceList, token: Token, found: readonly FoundPaste[]): void {
  list.keep('code', token.start);
  const literal = list.text.slice(token.start, token.end);
  const close = literal.lastIndexOf('/');
  list.insert('new RegExp(');
  let at = token.start + 1;
  for (const { start, paste } of found) {
    list.insert(`${JSON.stringify(list.text.slice(at, start))} + `);
    list.paste(start, paste, (v) => v, 'was pasted into a pattern; its text is still read as one');
    list.insert(' + ');
    at = paste.end;
  }
  const flags = literal.slice(close + 1);
  list.insert(JSON.stringify(list.text.slice(at, token.start + close)));
  list.insert(`${flags === '' ? '' : `, ${JSON.stringify(flags)}`})`);
  list.skipTo(token.end);
}
