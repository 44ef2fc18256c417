// Owns questions and conditions of workflow/1: texts with pasted names become texts with insertions, conditions expressions.
import { literalText } from '../draft/method-text.ts';
import type { PastedNames, Reference } from './pasted-names.ts';

/** A question with `${…}` for each pasted name. `unknown` is called for unknown names. */
export function upgradeQuestion(text: string, names: PastedNames, unknown: (words: string) => void): string {
  let out = '';
  let at = 0;
  for (const { start, paste } of names.all(text)) {
    if (!paste.reference) unknown(paste.words);
    const before = text.slice(at, start);
    // `$` right before an insertion would read as the escape `$${`: "Pay ${{amount}}?" is a common question.
    out += before.endsWith('$') ? `${literalPart(before.slice(0, -1), at)}\${"$"}` : literalPart(before, at);
    out += `\${${paste.reference?.expression ?? '""'}}`;
    at = paste.end;
  }
  return out + literalPart(text.slice(at), at);
}

/** Only the very start of a text can be read as `=expression`. */
function literalPart(text: string, at: number): string {
  return at === 0 ? literalText(text) : text.replaceAll('${', () => '$${');
}

const OPERATOR = /\s(?:==|!=|contains)(?=\s)|==|!=/y;
const CONDITION_CHARACTERS_MAX = 5_000;

/**
 * A condition as an expression: `a == b`, `a != b`, `a contains b`, or a single `{{x}}` (not empty). Undefined for
 * anything else.
 */
export function upgradeCondition(
  text: string,
  names: PastedNames,
  unknown: (words: string) => void,
): string | undefined {
  const condition = text.trim();
  if (condition.length > CONDITION_CHARACTERS_MAX) return undefined;
  const operators = operatorsOf(condition, names);
  const [first] = operators;
  if (first === undefined) {
    const only = names.at(condition, 0);
    if (!only || only.end !== condition.length) return undefined;
    if (!only.reference) unknown(only.words);
    return `${operand(only.reference)} != ""`;
  }
  const left = readOperand(condition.slice(0, first.start), names, unknown);
  const right = readOperand(condition.slice(first.end), names, unknown);
  if (operators.length > 1 || left === undefined || right === undefined) return undefined;
  return first.word === 'contains' ? `${left}.includes(${right})` : `${left} ${first.word} ${right}`;
}

/** Operators outside pasted names and quotes. */
function operatorsOf(text: string, names: PastedNames): { start: number; end: number; word: string }[] {
  const found: { start: number; end: number; word: string }[] = [];
  for (let at = 0; at < text.length; ) {
    const paste = names.at(text, at);
    const quote = text.charAt(at);
    const close = /["']/.test(quote) ? text.indexOf(quote, at + 1) : -1;
    OPERATOR.lastIndex = at;
    const operator = OPERATOR.exec(text)?.[0];
    if (paste) at = paste.end;
    else if (close > at) at = close + 1;
    else if (operator !== undefined) {
      found.push({ start: at, end: at + operator.length, word: operator.trim() });
      at += operator.length;
    } else at++;
  }
  return found;
}

/** One side: a pasted name, a quoted text, a bare word, or words and names in a row. */
function readOperand(side: string, names: PastedNames, unknown: (words: string) => void): string | undefined {
  const text = side.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  const inner = quoted?.[2] ?? text;
  // `and`, `or` and the like have no meaning there; as part of a text they would silently be compared.
  if (text === '' || (quoted && inner.includes(quoted[1] ?? '')) || (!quoted && CONNECTIVE.test(text)))
    return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const { start, paste } of names.all(inner)) {
    if (!paste.reference) unknown(paste.words);
    if (start > at) parts.push(JSON.stringify(inner.slice(at, start)));
    parts.push(operand(paste.reference));
    at = paste.end;
  }
  if (at < inner.length || parts.length === 0) parts.push(JSON.stringify(inner.slice(at)));
  return parts.length === 1 ? parts[0] : `(${parts.join(' + ')})`;
}

const CONNECTIVE = /&&|\|\||[<>!=]|(?:^|\s)(?:and|or|not|in)(?:\s|$)/i;

function operand(reference: Reference | null): string {
  if (!reference) return '""';
  return reference.compound ? `(${reference.expression})` : reference.expression;
}
