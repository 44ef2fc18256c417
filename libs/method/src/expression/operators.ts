// Owns operators on numbers, texts and whole values. Nothing is converted: both sides must already be of one kind.
import type { Frame } from '../compiled-value.ts';
import type { JsonValue } from '../json.ts';
import { nearest } from '../source/did-you-mean.ts';
import { overlap, shapeOf } from '../types/fits.ts';
import { comparable, holdsTimes, isSortText } from '../types/instants.ts';
import {
  BOOLEAN,
  every,
  INTEGER,
  isNullable,
  isNumber,
  isText,
  isUnknown,
  membersOf,
  NUMBER,
  STRING,
  shortType,
  type Type,
} from '../types/type.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import { type ArithmeticOperator, type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { isNull } from './narrowing.ts';
import {
  charge,
  chargeComparison,
  chargeParts,
  chargeText,
  ExpressionError,
  equal,
  expectNumber,
  expectText,
  finite,
} from './runtime.ts';

export function compileNegate(compiler: Compiler, expr: ExprOf<'negate'>, env: Env): Compiled {
  const value = compiler.operand(expr.value, env);
  if (!isNumber(value.type))
    throw new ExpressionProblem('M406', `- needs a number, not ${shortType(value.type)}`, expr);
  const place = compiler.textOf(expr.value);
  return { type: isWhole(value.type) ? INTEGER : NUMBER, run: (frame) => -expectNumber(value.run(frame), place) };
}

export function compileEquality(compiler: Compiler, expr: ExprOf<'equality'>, env: Env): Compiled {
  const left = compiler.compile(expr.left, env);
  const right = compiler.compile(expr.right, env);
  const { negated } = expr;
  if (isNull(expr.left) || isNull(expr.right)) {
    const value = isNull(expr.left) ? right : left;
    return { type: BOOLEAN, run: (frame) => (value.run(frame) === null) !== negated };
  }
  compiler.refuseSecret(expr.left, left.type);
  compiler.refuseSecret(expr.right, right.type);
  if (!overlap(left.type, right.type)) throw neverEqual(compiler, expr, left.type, right.type);
  const types = [left.type, right.type];
  if (!types.some(holdsTimes)) {
    return { type: BOOLEAN, run: (frame) => equal(frame, left.run(frame), right.run(frame)) !== negated };
  }
  const moments = (frame: Frame, value: JsonValue) => {
    chargeParts(frame, value);
    return comparable(value, types);
  };
  return {
    type: BOOLEAN,
    run: (frame) => equal(frame, moments(frame, left.run(frame)), moments(frame, right.run(frame))) !== negated,
  };
}

function neverEqual(compiler: Compiler, expr: ExprOf<'equality'>, left: Type, right: Type): ExpressionProblem {
  const shapes = new Set(membersOf(left).flatMap(shapesOf));
  const sameShape = membersOf(right)
    .flatMap(shapesOf)
    .some((shape) => shapes.has(shape));
  const text = compiler.textOf(expr);
  if (!sameShape)
    return new ExpressionProblem(
      'M406',
      `${text} compares ${shortType(left)} with ${shortType(right)}`,
      expr,
      'both sides must be of one type',
    );
  const [fixed, other, choice]: readonly [Expr, Type, Type] =
    expr.left.kind === 'literal' ? [expr.left, right, left] : [expr.right, left, right];
  const words = membersOf(other).flatMap((member) => (member.kind === 'choice' ? member.values.map(String) : []));
  const wanted = membersOf(choice).flatMap((member) => (member.kind === 'choice' ? member.values.map(String) : []))[0];
  const near = wanted === undefined ? undefined : nearest(wanted, words);
  const hint = near === undefined ? `the values are ${words.slice(0, 20).join(', ')}` : `did you mean "${near}"?`;
  return new ExpressionProblem('M408', `${text} is always ${expr.negated}`, fixed, hint);
}

function shapesOf(member: ReturnType<typeof membersOf>[number]): string[] {
  if (member.kind !== 'choice') return [shapeOf(member)];
  return member.values.map((value) => (value === null ? 'null' : typeof value));
}

export function compileComparison(compiler: Compiler, expr: ExprOf<'comparison'>, env: Env): Compiled {
  const left = compiler.operand(expr.left, env);
  const right = compiler.operand(expr.right, env);
  const numbers = isNumber(left.type) && isNumber(right.type);
  const texts = isText(left.type) && isText(right.type);
  if (!numbers && !texts) {
    throw new ExpressionProblem(
      'M406',
      `${expr.operator} needs two numbers or two texts, not ${shortType(left.type)} and ${shortType(right.type)}`,
      expr,
    );
  }
  const compare = COMPARISONS[expr.operator];
  const place = compiler.textOf(expr);
  const types = [left.type, right.type];
  const areTimes = types.some(holdsTimes);
  if (areTimes) for (const side of [expr.left, expr.right]) refuseNoMoment(side, types, place);
  return {
    type: BOOLEAN,
    run: (frame) => {
      const a = left.run(frame);
      const b = right.run(frame);
      if (typeof a === 'number' && typeof b === 'number') return compare(a, b);
      if (typeof a === 'string' && typeof b === 'string') {
        chargeComparison(frame, a, b);
        if (!areTimes) return compare(a, b);
        charge(frame, 2);
        const [first, second] = [comparable(a, types), comparable(b, types)];
        if (isMoment(first) && isMoment(second)) return compare(first, second);
        if (!isMoment(first) && !isMoment(second)) return compare(a, b);
        throw new ExpressionError(`${place} compares a time with a text that is not a time`);
      }
      throw new ExpressionError(`${place} needs two numbers or two texts`);
    },
  };
}

function isMoment(value: JsonValue): value is string {
  return typeof value === 'string' && isSortText(value);
}

/** A text in quotes beside a datetime must be one, or a date. */
function refuseNoMoment(side: Expr, types: readonly Type[], place: string): void {
  if (side.kind !== 'literal' || isMoment(comparable(side.value, types))) return;
  const hint = 'for example  "2026-01-31T12:00:00Z"  or  "2026-01-31", which begins at midnight in UTC';
  throw new ExpressionProblem('M406', `${place} compares a time with a text that is not a time`, side, hint);
}

const COMPARISONS = {
  '<': <T extends number | string>(a: T, b: T) => a < b,
  '<=': <T extends number | string>(a: T, b: T) => a <= b,
  '>': <T extends number | string>(a: T, b: T) => a > b,
  '>=': <T extends number | string>(a: T, b: T) => a >= b,
};

export function compileArithmetic(compiler: Compiler, expr: ExprOf<'arithmetic'>, env: Env): Compiled {
  const first = compiler.operand(expr.first, env);
  const rest = expr.rest.map(({ operator, value }) => ({
    operator,
    ...compiler.operand(value, env),
    place: compiler.textOf(value),
  }));
  const all = [first, ...rest];
  const place = compiler.textOf(expr);
  const onlyPlus = rest.every(({ operator }) => operator === '+');
  const texts = onlyPlus && all.every(({ type }) => isText(type)) && all.some(({ type }) => !isUnknown(type));
  if (!texts) {
    const bad = all.find(({ type }) => !isNumber(type));
    if (bad) {
      const hint = onlyPlus
        ? 'to build text write  `…${x}…`'
        : isText(bad.type)
          ? 'number(x) reads a number from text'
          : undefined;
      throw new ExpressionProblem('M406', `${place} needs numbers, not ${shortType(bad.type)}`, expr, hint);
    }
  }
  if (texts) {
    const parts = all.map(({ run }) => run);
    return { type: STRING, run: (frame) => joinTexts(frame, parts, place) };
  }
  const whole = all.every(({ type }) => isWhole(type)) && rest.every(({ operator }) => operator !== '/');
  const firstPlace = compiler.textOf(expr.first);
  return {
    type: whole ? INTEGER : NUMBER,
    run: (frame) => {
      let total = first.run(frame);
      // Values of unknown type may turn out to be texts: `+` joins those.
      if (typeof total === 'string' && onlyPlus)
        return joinTexts(
          frame,
          all.map(({ run }) => run),
          place,
        );
      total = expectNumber(total, firstPlace);
      for (const part of rest) total = apply(part.operator, total, expectNumber(part.run(frame), part.place), place);
      return total;
    },
  };
}

function joinTexts(frame: Frame, parts: readonly ((frame: Frame) => JsonValue)[], place: string): string {
  let text = '';
  for (const part of parts) {
    text += expectText(part(frame), place);
    chargeText(frame, text.length);
  }
  return text;
}

function apply(operator: ArithmeticOperator, a: number, b: number, place: string): number {
  if ((operator === '/' || operator === '%') && b === 0) throw new ExpressionError(`${place} divides by zero`);
  switch (operator) {
    case '+':
      return finite(a + b, place);
    case '-':
      return finite(a - b, place);
    case '*':
      return finite(a * b, place);
    case '/':
      return finite(a / b, place);
    case '%':
      return a % b;
  }
}

/** True for whole numbers only. */
export function isWhole(type: Type): boolean {
  if (isUnknown(type) || isNullable(type)) return false;
  return every(
    type,
    (member) => member.kind === 'integer' || (member.kind === 'choice' && member.values.every(Number.isInteger)),
  );
}
