// Owns the hints on YAML errors: the corrected line for the mistakes people make when values hold code or expressions.
import type { SourceText } from './source-text.ts';

const CODE_KEYS = new Set(['node', 'python', 'shell']);
// Hints look at one line; a minified line would make the patterns below slow and the hint useless.
const LINE_CHARACTERS_MAX = 500;

/** A hint for the syntax error at `offset`, or undefined when the line gives none. */
export function hintForSyntax(source: SourceText, offset: number): string | undefined {
  const line = source.lineAt(offset);
  if (line.length > LINE_CHARACTERS_MAX) return undefined;
  const pair = /^\s*(?:- )?([\w?.[\]]+): +(\S.*)$/.exec(line);
  const key = pair?.[1] ?? '';
  const value = pair?.[2] ?? '';
  if (value.startsWith('!')) return hintForTag(source, offset);
  if (CODE_KEYS.has(key)) return `put the code on its own lines below  ${key}: |`;
  if (/\{[^}]*\$\{/.test(line) && !/["'][^"']*\$\{/.test(line)) {
    return 'inside { } put text with ${...} in double quotes, or write one key a line';
  }
  if (/[[{].*\w\[\]/.test(line)) return 'inside { } write list<T> instead of T[]';
  if (/^["'].*["']\s*\S/.test(value)) return `the value starts with a quote: put = first, as in  ${key}: =${value}`;
  if (pair && value.includes(': ') && !/^["'{[]/.test(value))
    return `quote the value:  ${key}: '${value.replaceAll("'", "''")}'`;
  if (pair && /^[@`%>|&*]/.test(value)) return `a value cannot start with ${value[0]}: put it in quotes`;
  if (/[[{].*[[{]/.test(line)) {
    return 'inside { } and [ ] the characters { } [ ] , have a meaning: write one key a line, or quote the value';
  }
  return undefined;
}

/** The corrected line for a value that begins with `!`. */
export function hintForTag(source: SourceText, offset: number): string {
  const pair = /^\s*(?:- )?([\w? ]{1,100}): +(![^\n]{0,200})/.exec(source.lineAt(offset).slice(0, LINE_CHARACTERS_MAX));
  return pair ? `write  ${pair[1]?.trim()}: =${pair[2]?.trim()}` : 'put = before the !';
}
