// Owns the places of code in its source: a line and column of the code become those of the file, which indents it.
import { rangeInside, type SourceScalar } from '../source/source-node.ts';
import type { Range, SourceText } from '../source/source-text.ts';

/** The one character at an offset of a scalar's text; the whole scalar where its characters are not those of the file. */
export function rangeOfCode(source: SourceText, scalar: SourceScalar, at: number): Range {
  if (scalar.textAt !== null) return rangeInside(scalar, at, at + 1);
  const before = scalar.text.slice(0, at).split('\n');
  const line = scalar.text.split('\n')[before.length - 1] ?? '';
  const first = source.positionOf(scalar.contentAt).line;
  const indent = indentOf(source, line, first + before.length - 1);
  if (indent === null) return scalar.range;
  const start = source.offsetOf(first + before.length - 1, 1 + indent + (before.at(-1)?.length ?? 0));
  return [start, start + 1];
}

/** Characters before a line of code on its line of the file; null: that line does not hold it as it is. */
export function indentOf(source: SourceText, codeLine: string, line: number): number | null {
  const text = source.lineAt(source.offsetOf(line, 1)).replace(/\r$/, '');
  if (codeLine === '') return text.trim() === '' ? 0 : null;
  const at = text.lastIndexOf(codeLine);
  return at < 0 ? null : at;
}
