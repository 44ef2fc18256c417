// Owns the comments of a workflow/1 file: each goes to its step, to the start of the file, or to its end.
import { Lexer } from 'yaml';
import type { OldStep } from './old-workflow.ts';

export interface KeptComments {
  readonly head: readonly string[];
  readonly steps: readonly (readonly string[])[];
  readonly foot: readonly string[];
}

// A lexer mark: the next lexeme is a scalar, whose text may well start with `#`.
const SCALAR_FOLLOWS = '\u001f';
const MARKS = new Set(['\u0002', '\u0018', SCALAR_FOLLOWS]);

/** A comment on a step's own line or within it is the step's; one on a line of its own belongs to what follows it. */
export function keepComments(text: string, steps: readonly OldStep[]): KeptComments {
  const head: string[] = [];
  const foot: string[] = [];
  const kept = steps.map((): string[] => []);
  const stepsKey = lastKeyBefore(text, steps[0]);
  let step = 0;
  for (const { at, line } of commentsOf(text)) {
    while (step < steps.length && isPassed(text, steps[step], at)) step++;
    const own = kept[step];
    if (own && (step > 0 || at > (steps[0]?.range[0] ?? 0) || at > stepsKey)) own.push(line);
    else (own ? head : foot).push(line);
  }
  return { head, steps: kept, foot };
}

/** True once the comment is after the step, on a line of its own. */
function isPassed(text: string, step: OldStep | undefined, at: number): boolean {
  if (!step || at < step.range[1]) return false;
  const end = step.range[1];
  return text.charAt(end - 1) === '\n' || text.slice(end, at).includes('\n');
}

/** Where the line of `steps:` begins: the last one before the first step that is neither an item nor a comment. */
function lastKeyBefore(text: string, first: OldStep | undefined): number {
  if (first === undefined) return Number.POSITIVE_INFINITY;
  let last = -1;
  for (const { index } of text.slice(0, first.range[0]).matchAll(/^[^\s#-]/gm)) last = index;
  return last;
}

function commentsOf(text: string): { at: number; line: string }[] {
  const found: { at: number; line: string }[] = [];
  let at = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalar && lexeme.startsWith('#')) found.push({ at, line: lexeme.replace(/^#[ \t]?/, '').trimEnd() });
    isScalar = lexeme === SCALAR_FOLLOWS;
    if (!MARKS.has(lexeme)) at += lexeme.length;
  }
  return found;
}
