// Owns texts with insertions: `${expr}` is an expression, `$${` a literal `${`.
import { ExpressionProblem } from './expression-tree.ts';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** `start` is the offset of the expression's first character in the whole text. */
  | { readonly kind: 'insertion'; readonly source: string; readonly start: number };

const PARTS_MAX = 200;

/** Splits a text; neighbouring characters form one part. Throws `ExpressionProblem` (M401) for an unclosed `${`. */
export function splitTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('${', at);
    if (next < 0) break;
    if (next > at && text[next - 1] === '$') {
      literal += `${text.slice(at, next - 1)}\${`;
      at = next + 2;
      continue;
    }
    literal += text.slice(at, next);
    const end = endOfInsertion(text, next + 2);
    if (end < 0) {
      throw new ExpressionProblem(
        'M401',
        'the ${ is not closed with }',
        { start: next, end: text.length },
        'write  $${  for the characters themselves',
      );
    }
    if (parts.length >= PARTS_MAX)
      throw new ExpressionProblem('M401', `a text has at most ${PARTS_MAX / 2} insertions`, { start: next, end });
    if (literal !== '') parts.push({ kind: 'text', text: literal });
    literal = '';
    parts.push({ kind: 'insertion', source: text.slice(next + 2, end), start: next + 2 });
    at = end + 1;
  }
  literal += text.slice(at);
  if (literal !== '' || parts.length === 0) parts.push({ kind: 'text', text: literal });
  return parts;
}

/** The offset of the `}` that closes an insertion; braces inside quotes do not count. */
function endOfInsertion(text: string, start: number): number {
  let level = 1;
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'" || character === '`') quote = character;
    else if (character === '{') level++;
    else if (character === '}' && --level === 0) return at;
  }
  return -1;
}
