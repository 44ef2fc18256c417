// Owns the turn of acorn's tree into ours; syntax of JavaScript that the language lacks is refused here (M402).
import type { AnyNode, Pattern as EsPattern, Expression, Property, SpreadElement, Super } from 'acorn';
import { isStorable } from '../source/source-text.ts';
import { type ArithmeticOperator, type ComparisonOperator, type Expr, ExpressionProblem } from './expression-tree.ts';

/** Levels an expression may nest; the compiler recurses once a level. */
export const LEVELS_MAX = 60;

/** Builds our tree of an expression that was parsed in parentheses. */
export class TreeBuilder {
  build(node: Expression | Super | EsPattern | SpreadElement | AnyNode, level: number): Expr {
    if (level > LEVELS_MAX)
      throw new ExpressionProblem('M401', `an expression nests at most ${LEVELS_MAX} levels`, placeOf(node));
    const place = placeOf(node);
    switch (node.type) {
      case 'Literal':
        if (node.regex)
          return refuse(place, 'regular expressions are not part of expressions', 'use  text.matches("...")');
        if (node.bigint !== undefined && node.bigint !== null) return refuse(place, 'write whole numbers without n');
        if (typeof node.value === 'number' && !Number.isFinite(node.value))
          return refuse(place, 'this number is too large');
        if (typeof node.value === 'string' && !isStorable(node.value))
          return refuse(place, 'this text cannot be stored');
        return {
          start: place.start,
          end: place.end,
          kind: 'literal',
          value: node.value as string | number | boolean | null,
        };
      case 'TemplateLiteral': {
        const texts = node.quasis.map((part) => part.value.cooked ?? '');
        if (!texts.every(isStorable)) return refuse(place, 'this text cannot be stored');
        return {
          start: place.start,
          end: place.end,
          kind: 'template',
          texts,
          values: node.expressions.map((child) => this.build(child, level + 1)),
        };
      }
      case 'Identifier':
        if (node.name === 'undefined') return refuse(place, 'absent is null here', 'write null');
        return { start: place.start, end: place.end, kind: 'name', name: node.name };
      case 'ChainExpression':
        return { start: place.start, end: place.end, kind: 'chain', value: this.build(node.expression, level + 1) };
      case 'MemberExpression': {
        const object = this.build(node.object, level + 1);
        if (!node.computed) {
          if (node.property.type !== 'Identifier') return refuse(place, 'private names are not part of expressions');
          return {
            start: place.start,
            end: place.end,
            kind: 'member',
            object,
            name: node.property.name,
            optional: node.optional,
            nameStart: node.property.start - 1,
          };
        }
        const index = this.build(node.property, level + 1);
        if (index.kind === 'literal' && typeof index.value === 'string') {
          return {
            start: place.start,
            end: place.end,
            kind: 'member',
            object,
            name: index.value,
            optional: node.optional,
            nameStart: index.start,
          };
        }
        return { start: place.start, end: place.end, kind: 'index', object, index, optional: node.optional };
      }
      case 'CallExpression': {
        const args = node.arguments.map((argument) => {
          if (argument.type === 'SpreadElement') return refuse(place, '... is only part of lists');
          return this.build(argument, level + 1);
        });
        const callee = node.callee;
        if (callee.type === 'Identifier' && !node.optional)
          return {
            start: place.start,
            end: place.end,
            kind: 'call',
            name: callee.name,
            nameStart: callee.start - 1,
            args,
          };
        if (
          callee.type !== 'MemberExpression' ||
          callee.computed ||
          callee.property.type !== 'Identifier' ||
          node.optional
        ) {
          return refuse(place, 'this call is not part of expressions');
        }
        const nameStart = callee.property.start - 1;
        return {
          start: place.start,
          end: place.end,
          kind: 'method',
          object: this.build(callee.object, level + 1),
          name: callee.property.name,
          optional: callee.optional,
          nameStart,
          args,
        };
      }
      case 'ConditionalExpression':
        return {
          start: place.start,
          end: place.end,
          kind: 'conditional',
          test: this.build(node.test, level + 1),
          yes: this.build(node.consequent, level + 1),
          no: this.build(node.alternate, level + 1),
        };
      case 'LogicalExpression': {
        const operands = this.#row(
          node,
          (inner) => inner.type === 'LogicalExpression' && inner.operator === node.operator,
        );
        const kind = node.operator === '&&' ? 'and' : node.operator === '||' ? 'or' : 'fallback';
        return {
          start: place.start,
          end: place.end,
          kind,
          operands: operands.map((child) => this.build(child, level + 1)),
        };
      }
      case 'UnaryExpression':
        if (node.operator === '!')
          return { start: place.start, end: place.end, kind: 'not', value: this.build(node.argument, level + 1) };
        if (node.operator === '-') return this.#negate(place, this.build(node.argument, level + 1));
        return refuse(
          place,
          `"${node.operator}" is not part of expressions`,
          node.operator === '+' ? 'use  number(x)' : undefined,
        );
      case 'BinaryExpression':
        return this.#binary(node, place, level);
      case 'ArrayExpression': {
        const items = node.elements.map((element) => {
          if (element === null) return refuse(place, 'a list item is missing');
          if (element.type === 'SpreadElement') return { spread: true, value: this.build(element.argument, level + 1) };
          return { spread: false, value: this.build(element, level + 1) };
        });
        return { start: place.start, end: place.end, kind: 'list', items };
      }
      case 'ObjectExpression':
        return {
          start: place.start,
          end: place.end,
          kind: 'object',
          fields: node.properties.map((property) => this.#field(property, level)),
        };
      case 'ArrowFunctionExpression': {
        if (node.body.type === 'BlockStatement' || node.async)
          return refuse(place, 'a function here is one expression, such as x => x.id');
        const params = node.params.map((param) =>
          param.type === 'Identifier' ? param.name : refuse(place, 'a parameter is a plain name'),
        );
        if (params.length > 2 || params.length === 0)
          return refuse(place, 'a function takes the item and, if wanted, its index');
        return { start: place.start, end: place.end, kind: 'arrow', params, body: this.build(node.body, level + 1) };
      }
      case 'AssignmentExpression':
        return refuse(place, 'expressions cannot assign', 'write == to compare');
      default:
        return refuse(place, `${wordsOf(node.type)} is not part of expressions`, 'move the logic into a node step');
    }
  }

  #binary(
    node: Extract<AnyNode, { type: 'BinaryExpression' }>,
    place: { start: number; end: number },
    level: number,
  ): Expr {
    const { operator } = node;
    if (operator === '==' || operator === '!=') {
      return {
        start: place.start,
        end: place.end,
        kind: 'equality',
        negated: operator === '!=',
        left: this.build(node.left, level + 1),
        right: this.build(node.right, level + 1),
      };
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
        start: place.start,
        end: place.end,
        kind: 'comparison',
        operator: operator satisfies ComparisonOperator,
        left: this.build(node.left, level + 1),
        right: this.build(node.right, level + 1),
      };
    }
    if (!isArithmetic(operator)) throw new ExpressionProblem('M402', `"${operator}" is not part of expressions`, place);
    const rest: { operator: ArithmeticOperator; value: Expr }[] = [];
    let first: AnyNode = node;
    const rank = rankOf(operator);
    // Operators of one rank form a row; a right operand of the same rank only occurs in parentheses and stays nested.
    while (first.type === 'BinaryExpression' && isArithmetic(first.operator) && rankOf(first.operator) === rank) {
      rest.unshift({ operator: first.operator, value: this.build(first.right, level + 1) });
      first = first.left;
    }
    return { start: place.start, end: place.end, kind: 'arithmetic', first: this.build(first, level + 1), rest };
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
      return { start: place.start, end: place.end, kind: 'literal', value: -value.value };
    return { start: place.start, end: place.end, kind: 'negate', value };
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

function refuse(place: { readonly start: number; readonly end: number }, message: string, hint?: string): never {
  throw new ExpressionProblem('M402', message, place, hint);
}

/** The place of a node in the author's text, which is wrapped in parentheses when it is parsed. */
function placeOf(node: { readonly start: number; readonly end: number }): { start: number; end: number } {
  return { start: node.start - 1, end: node.end - 1 };
}
