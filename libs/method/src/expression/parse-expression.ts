// Owns reading an expression: acorn parses JavaScript, and what the language leaves out is refused here (M401, M402).
import {
  type AnyNode,
  type Pattern as EsPattern,
  type Expression,
  type Program,
  type Property,
  parse,
  type SpreadElement,
  type Super,
} from 'acorn';
import { isStorable } from '../source/source-text.ts';
import { type ArithmeticOperator, type ComparisonOperator, type Expr, ExpressionProblem } from './expression-tree.ts';

const CHARACTERS_MAX = 4_000;
const LEVELS_MAX = 60;

/** Reads one expression. Throws `ExpressionProblem` (M401, M402). */
export function parseExpression(source: string): Expr {
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

/** The place of a node in the author's text, which stands in parentheses when it is parsed. */
function placeOf(node: { readonly start: number; readonly end: number }): { start: number; end: number } {
  return { start: node.start - 1, end: node.end - 1 };
}

class TreeBuilder {
  build(node: Expression | Super | EsPattern | SpreadElement | AnyNode, level: number): Expr {
    if (level > LEVELS_MAX)
      throw new ExpressionProblem('M401', `an expression nests at most ${LEVELS_MAX} levels`, placeOf(node));
    const place = placeOf(node);
    const next = (child: Expression | Super | EsPattern | AnyNode): Expr => this.build(child, level + 1);
    const refuse = (message: string, hint?: string): never => {
      throw new ExpressionProblem('M402', message, place, hint);
    };
    switch (node.type) {
      case 'Literal':
        if (node.regex) return refuse('regular expressions are not part of expressions', 'use  text.matches("...")');
        if (node.bigint !== undefined && node.bigint !== null) return refuse('write whole numbers without n');
        if (typeof node.value === 'number' && !Number.isFinite(node.value)) return refuse('this number is too large');
        return { ...place, kind: 'literal', value: node.value as string | number | boolean | null };
      case 'TemplateLiteral': {
        const texts = node.quasis.map((part) => part.value.cooked ?? '');
        if (!texts.every(isStorable)) return refuse('this text cannot be stored');
        return { ...place, kind: 'template', texts, values: node.expressions.map(next) };
      }
      case 'Identifier':
        if (node.name === 'undefined') return refuse('absent is null here', 'write null');
        return { ...place, kind: 'name', name: node.name };
      case 'ChainExpression':
        return { ...place, kind: 'chain', value: next(node.expression) };
      case 'MemberExpression': {
        const object = next(node.object);
        if (!node.computed) {
          if (node.property.type !== 'Identifier') return refuse('private names are not part of expressions');
          return {
            ...place,
            kind: 'member',
            object,
            name: node.property.name,
            optional: node.optional,
            nameStart: node.property.start - 1,
          };
        }
        const index = next(node.property);
        if (index.kind === 'literal' && typeof index.value === 'string') {
          return {
            ...place,
            kind: 'member',
            object,
            name: index.value,
            optional: node.optional,
            nameStart: index.start,
          };
        }
        return { ...place, kind: 'index', object, index, optional: node.optional };
      }
      case 'CallExpression': {
        const args = node.arguments.map((argument) => {
          if (argument.type === 'SpreadElement') return refuse('... is only part of lists');
          return next(argument);
        });
        const callee = node.callee;
        if (callee.type === 'Identifier' && !node.optional)
          return { ...place, kind: 'call', name: callee.name, nameStart: callee.start - 1, args };
        if (
          callee.type !== 'MemberExpression' ||
          callee.computed ||
          callee.property.type !== 'Identifier' ||
          node.optional
        ) {
          return refuse('this call is not part of expressions');
        }
        const nameStart = callee.property.start - 1;
        return {
          ...place,
          kind: 'method',
          object: next(callee.object),
          name: callee.property.name,
          optional: callee.optional,
          nameStart,
          args,
        };
      }
      case 'ConditionalExpression':
        return {
          ...place,
          kind: 'conditional',
          test: next(node.test),
          yes: next(node.consequent),
          no: next(node.alternate),
        };
      case 'LogicalExpression': {
        const operands = this.#row(
          node,
          (inner) => inner.type === 'LogicalExpression' && inner.operator === node.operator,
        );
        const kind = node.operator === '&&' ? 'and' : node.operator === '||' ? 'or' : 'fallback';
        return { ...place, kind, operands: operands.map(next) };
      }
      case 'UnaryExpression':
        if (node.operator === '!') return { ...place, kind: 'not', value: next(node.argument) };
        if (node.operator === '-') return this.#negate(place, next(node.argument));
        return refuse(
          `"${node.operator}" is not part of expressions`,
          node.operator === '+' ? 'use  number(x)' : undefined,
        );
      case 'BinaryExpression':
        return this.#binary(node, place, level);
      case 'ArrayExpression': {
        const items = node.elements.map((element) => {
          if (element === null) return refuse('a list item is missing');
          if (element.type === 'SpreadElement') return { spread: true, value: next(element.argument) };
          return { spread: false, value: next(element) };
        });
        return { ...place, kind: 'list', items };
      }
      case 'ObjectExpression':
        return { ...place, kind: 'object', fields: node.properties.map((property) => this.#field(property, level)) };
      case 'ArrowFunctionExpression': {
        if (node.body.type === 'BlockStatement' || node.async)
          return refuse('a function here is one expression, such as x => x.id');
        const params = node.params.map((param) =>
          param.type === 'Identifier' ? param.name : refuse('a parameter is a plain name'),
        );
        if (params.length > 2 || params.length === 0)
          return refuse('a function takes the item and, if wanted, its index');
        return { ...place, kind: 'arrow', params, body: next(node.body) };
      }
      case 'AssignmentExpression':
        return refuse('expressions cannot assign', 'write == to compare');
      default:
        return refuse(`${wordsOf(node.type)} is not part of expressions`, 'move the logic into a node step');
    }
  }

  #binary(
    node: Extract<AnyNode, { type: 'BinaryExpression' }>,
    place: { start: number; end: number },
    level: number,
  ): Expr {
    const { operator } = node;
    const next = (child: AnyNode): Expr => this.build(child, level + 1);
    if (operator === '==' || operator === '!=') {
      return { ...place, kind: 'equality', negated: operator === '!=', left: next(node.left), right: next(node.right) };
    }
    if (operator === '===' || operator === '!==') {
      throw new ExpressionProblem(
        'M402',
        `"${operator}" is not part of expressions`,
        place,
        `write ${operator.slice(0, 2)}, which compares deeply and never converts`,
      );
    }
    if (operator === '<' || operator === '<=' || operator === '>' || operator === '>=') {
      return {
        ...place,
        kind: 'comparison',
        operator: operator satisfies ComparisonOperator,
        left: next(node.left),
        right: next(node.right),
      };
    }
    if (!isArithmetic(operator)) throw new ExpressionProblem('M402', `"${operator}" is not part of expressions`, place);
    const rest: { operator: ArithmeticOperator; value: Expr }[] = [];
    let first: AnyNode = node;
    const rank = rankOf(operator);
    // Operators of one rank stand in a row; a right operand of the same rank only occurs in parentheses and stays nested.
    while (first.type === 'BinaryExpression' && isArithmetic(first.operator) && rankOf(first.operator) === rank) {
      rest.unshift({ operator: first.operator, value: next(first.right) });
      first = first.left;
    }
    return { ...place, kind: 'arithmetic', first: next(first), rest };
  }

  #row(node: AnyNode, same: (node: AnyNode) => boolean): AnyNode[] {
    const operands: AnyNode[] = [];
    let current = node;
    while (current.type === 'LogicalExpression' && same(current)) {
      operands.unshift(current.right);
      current = current.left;
    }
    return [current, ...operands];
  }

  #negate(place: { start: number; end: number }, value: Expr): Expr {
    if (value.kind === 'literal' && typeof value.value === 'number')
      return { ...place, kind: 'literal', value: -value.value };
    return { ...place, kind: 'negate', value };
  }

  #field(property: Property | SpreadElement, level: number): { name: string; value: Expr } {
    const problem = (message: string) => new ExpressionProblem('M402', message, placeOf(property));
    if (property.type === 'SpreadElement') throw problem('... is only part of lists');
    if (property.computed || property.method || property.kind !== 'init')
      throw problem('only plain keys are part of { }');
    const key = property.key;
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined;
    if (name === undefined || name === '__proto__') throw problem('this key is not part of { }');
    return { name, value: this.build(property.value, level + 1) };
  }
}

function isArithmetic(operator: string): operator is ArithmeticOperator {
  return operator.length === 1 && '+-*/%'.includes(operator);
}

function rankOf(operator: ArithmeticOperator): number {
  return operator === '+' || operator === '-' ? 1 : 2;
}

/** `NewExpression` to `new expression`, for messages. */
function wordsOf(type: string): string {
  return type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
