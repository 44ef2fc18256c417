// Owns the few tokens of python that matter for pasted names: literals, comments, brackets, and everything else.
import type { PastedNames } from './pasted-names.ts';

export type PythonToken =
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
export function pythonTokens(text: string, from: number, to: number, names: PastedNames): PythonToken[] {
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
