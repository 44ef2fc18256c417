// Owns reading an expression: bounds first, then acorn for the syntax (M401), then our own tree.
import { type Program, parse } from 'acorn';
import { LEVELS_MAX, TreeBuilder } from './build-tree.ts';
import { type Expr, ExpressionProblem } from './expression-tree.ts';

const CHARACTERS_MAX = 4_000;

// Half of a method's expressions are such paths, and acorn costs more to start than to read them.
const PLAIN_PATH = /^(?:inputs|steps|out|last|item|response|run|error|failure)(?:\.[A-Za-z_]\w*){1,8}$/;

/** Reads one expression. Throws `ExpressionProblem` (M401, M402). */
export function parseExpression(source: string): Expr {
  return PLAIN_PATH.test(source) ? plainPath(source) : parseAny(source);
}

function plainPath(source: string): Expr {
  const [root = '', ...fields] = source.split('.');
  let tree: Expr = { start: 0, end: root.length, kind: 'name', name: root };
  for (const name of fields) {
    const nameStart: number = tree.end + 1;
    tree = { start: 0, end: nameStart + name.length, kind: 'member', object: tree, name, optional: false, nameStart };
  }
  return tree;
}

function parseAny(source: string): Expr {
  const everything = { start: 0, end: source.length };
  if (source.trim() === '') throw new ExpressionProblem('M401', 'the expression is empty', everything);
  if (source.length > CHARACTERS_MAX) {
    throw new ExpressionProblem(
      'M401',
      `an expression has at most ${CHARACTERS_MAX} characters`,
      everything,
      'move the logic into a node step',
    );
  }
  let parsed: Program;
  try {
    guardNesting(source);
    // In parentheses `{…}` is an object and a line break ends nothing; offsets are one too large after that.
    parsed = parse(`(${source}\n)`, { ecmaVersion: 2022, sourceType: 'script' });
  } catch (error) {
    if (error instanceof ExpressionProblem) throw error;
    if (error instanceof RangeError) throw new ExpressionProblem('M401', 'the expression nests too deeply', everything);
    throw syntaxProblem(source, error);
  }
  const [statement, ...more] = parsed.body;
  if (statement?.type !== 'ExpressionStatement' || more.length > 0) {
    throw new ExpressionProblem('M401', 'this is not one expression', everything);
  }
  return new TreeBuilder().build(statement.expression, 0);
}

/** Acorn recurses a dozen calls a bracket, so brackets are counted before it starts. */
function guardNesting(source: string): void {
  let level = 0;
  let quote = '';
  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at);
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) level++;
    else if (')]}'.includes(character)) level--;
    if (level < 0) throw new ExpressionProblem('M401', `unexpected "${character}"`, { start: at, end: at + 1 });
    if (level > LEVELS_MAX) {
      throw new ExpressionProblem('M401', `an expression nests at most ${LEVELS_MAX} levels`, {
        start: at,
        end: at + 1,
      });
    }
  }
}

const WORD_HINTS: ReadonlyMap<string, string> = new Map([
  ['and', 'write &&'],
  ['or', 'write ||'],
  ['not', 'write !'],
  ['is', 'write =='],
  ['if', 'write  condition ? a : b'],
]);

function syntaxProblem(source: string, error: unknown): ExpressionProblem {
  const position = typeof error === 'object' && error !== null && 'pos' in error ? Number(error.pos) - 1 : 0;
  const start = Math.min(Math.max(position, 0), source.length);
  const word = /^\w{1,20}/.exec(source.slice(start))?.[0] ?? '';
  const message = error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, '') : 'it is not readable';
  const isEnd = source.slice(start).trim() === '';
  return new ExpressionProblem(
    'M401',
    `cannot read the expression: ${message}`,
    { start, end: Math.min(start + Math.max(word.length, 1), source.length) },
    isEnd ? 'the expression ends too early' : WORD_HINTS.get(word),
  );
}
