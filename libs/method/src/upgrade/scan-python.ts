// Owns pasted names in python: in literals, in f-strings and their expressions, and bare in the code.
import { PieceList, type ScannedScript } from './code-piece.ts';
import type { PastedNames } from './pasted-names.ts';
import { closed, pasteIntoLiteral } from './quoted-text.ts';

type StringToken = Extract<PythonToken, { kind: 'string' }>;

const NESTED_MAX = 4;

/** Splits a python script. */
export function scanPython(text: string, names: PastedNames): ScannedScript {
  const list = new PieceList(text, names);
  const closes = scanCode(list, 0, text.length, 0);
  list.keep('code', text.length);
  return { pieces: list.pieces, closes };
}

/** False when a literal in it is not closed. */
function scanCode(list: PieceList, from: number, to: number, level: number): boolean {
  const tokens = pythonTokens(list.text, from, to, list.names);
  let closes = true;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'string') scanString(list, token, isJoined(tokens, index), level);
    else if (token.kind === 'comment') {
      list.keep('code', token.start);
      list.keep('text', token.end);
    } else if (token.kind === 'paste') {
      const paste = list.names.at(list.text, token.start);
      list.keep('code', token.start);
      if (paste)
        list.paste(token.start, paste, (v) => v, 'was pasted as code; it is text now, as in int(x) or json.loads(x)');
    } else if (token.kind === 'other' && token.end - token.start > 1) {
      closes = false;
      list.keep('code', token.start);
      for (const { start, paste } of list.names.all(list.text.slice(token.start, token.end))) {
        list.keep('text', token.start + start);
        const whole = { ...paste, end: token.start + paste.end };
        list.paste(token.start + start, whole, (v) => v, 'was pasted as code; it is text now');
      }
      list.keep('text', token.end);
    }
  }
  return closes;
}

/** Literals side by side are one text in python; `("a" + x) "b"` would be no python. */
function isJoined(tokens: readonly PythonToken[], index: number): boolean {
  const beside = (step: 1 | -1) => {
    let at = index + step;
    while (tokens[at]?.kind === 'space' || (tokens[at]?.kind === 'comment' && step === 1)) at += step;
    return tokens[at]?.kind === 'string';
  };
  return beside(1) || beside(-1);
}

function scanString(list: PieceList, token: StringToken, joined: boolean, level: number): void {
  const { text, names } = list;
  const textStart = token.start + token.prefix.length + token.quote.length;
  const textEnd = token.end - token.quote.length;
  if (token.prefix.includes('f')) return scanFormatted(list, token, textStart, textEnd, level);
  const found = names
    .all(text.slice(textStart, textEnd))
    .map(({ start, paste }) => ({ start: textStart + start, paste: { ...paste, end: textStart + paste.end } }));
  if (found.length === 0) {
    list.keep('code', token.start);
    list.keep('text', token.end);
    return;
  }
  const bytes = token.prefix.includes('b');
  const raw = token.prefix.includes('r');
  const piece = raw ? (part: string) => unraw(part) : closed;
  if (!joined || bytes) {
    const open = `${bytes ? 'b' : ''}${token.quote}`;
    const variable = bytes ? (v: string) => `${v}.encode()` : (v: string) => v;
    pasteIntoLiteral(list, { ...token, textStart, textEnd, open, close: token.quote, piece, variable }, found);
    return;
  }
  list.keep('code', token.start);
  list.insert(`f${token.quote}`);
  let at = textStart;
  for (const { start, paste } of found) {
    list.insert(doubledBraces(piece(text.slice(at, start))));
    list.paste(start, paste, (v) => `{${v}}`);
    at = paste.end;
  }
  list.insert(`${doubledBraces(text.slice(at, textEnd))}${token.quote}`);
  list.skipTo(token.end);
}

/** In an f-string a paste among the text becomes `{x}`; within an expression the rules of code hold. */
function scanFormatted(list: PieceList, token: StringToken, from: number, to: number, level: number): void {
  const { text, names } = list;
  list.keep('code', token.start);
  for (let at = from; at < to; ) {
    const paste = names.at(text, at);
    const character = text.charAt(at);
    if (paste) {
      list.keep('text', at);
      list.paste(at, paste, (v) => `{${v}}`);
      at = paste.end;
    } else if (text.startsWith('{{', at) || text.startsWith('}}', at)) at += 2;
    else if (character === '\\' && !token.prefix.includes('r')) at += 2;
    else if (character === '{' && level < NESTED_MAX) {
      const end = endOfExpression(text, at + 1, to, names);
      list.keep('text', at + 1);
      scanCode(list, at + 1, end, level + 1);
      list.keep('code', end);
      at = end;
    } else at++;
  }
  list.keep('text', token.end);
}

function endOfExpression(text: string, from: number, to: number, names: PastedNames): number {
  let depth = 0;
  for (let at = from; at < to; ) {
    const paste = names.at(text, at);
    const character = text.charAt(at);
    if (!paste && character === '{') depth++;
    if (!paste && character === '}' && depth-- === 0) return at;
    at = paste?.end ?? at + 1;
  }
  return to;
}

/** The text of a raw literal as written in a plain one. */
function unraw(text: string): string {
  return text.replace(/\\(["'])?/g, (_, quote: string | undefined) =>
    quote === undefined ? '\\\\' : `\\\\\\${quote}`,
  );
}

function doubledBraces(text: string): string {
  return text.replace(/\\N\{[^{}]*\}|[{}]/g, (match) => (match.length > 1 ? match : match + match));
}

/**
 * The few tokens of python that matter for pasted names: literals, comments, brackets, and everything else.
 */
type PythonToken =
  | {
      readonly kind: 'string';
      readonly start: number;
      readonly end: number;
      readonly prefix: string;
      readonly quote: string;
    }
  | {
      readonly kind: 'comment' | 'space' | 'newline' | 'word' | 'other' | 'paste';
      readonly start: number;
      readonly end: number;
    };

const STRING = /([rRbBuUfF]{0,2})("""|'''|"|')/y;
const WORD = /[\p{L}\p{N}_]+/uy;
const SPACE = /(?:[ \t\f\r]|\\\r?\n)+/y;

/** Tokens from `from` to `to`; newlines inside brackets are spaces. Never fails: broken text gives tokens of some kind. */
function pythonTokens(text: string, from: number, to: number, names: PastedNames): PythonToken[] {
  const tokens: PythonToken[] = [];
  let depth = 0;
  for (let at = from; at < to; ) {
    const paste = names.at(text, at);
    const found =
      (paste && ({ kind: 'paste', start: at, end: paste.end } as const)) ??
      stringAt(text, at) ??
      simpleAt(text, at, depth);
    const character = text.charAt(at);
    if (found.kind === 'other' && /[([{]/.test(character)) depth++;
    if (found.kind === 'other' && /[)\]}]/.test(character)) depth = Math.max(0, depth - 1);
    tokens.push(found.end > to ? { ...found, end: to } : found);
    at = found.end;
  }
  return tokens;
}

function simpleAt(text: string, at: number, depth: number): PythonToken {
  const character = text.charAt(at);
  if (character === '#') {
    const lineEnd = text.indexOf('\n', at);
    return { kind: 'comment', start: at, end: lineEnd < 0 ? text.length : lineEnd };
  }
  if (character === '\n') return { kind: depth > 0 ? 'space' : 'newline', start: at, end: at + 1 };
  for (const [kind, pattern] of [
    ['space', SPACE],
    ['word', WORD],
  ] as const) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return { kind, start: at, end: pattern.lastIndex };
  }
  return { kind: 'other', start: at, end: at + 1 };
}

function stringAt(text: string, at: number): PythonToken | undefined {
  STRING.lastIndex = at;
  const [opening, prefix, quote] = STRING.exec(text) ?? [];
  if (opening === undefined || prefix === undefined || quote === undefined) return undefined;
  let end = at + opening.length;
  while (end < text.length && !text.startsWith(quote, end)) {
    // One that is not closed in its line is broken; the rest of the file is not part of it.
    if (text.charAt(end) === '\n' && quote.length === 1) return { kind: 'other', start: at, end };
    end += text.charAt(end) === '\\' ? 2 : 1;
  }
  if (end >= text.length) return { kind: 'other', start: at, end: text.length };
  return { kind: 'string', start: at, end: end + quote.length, prefix: prefix.toLowerCase(), quote };
}
