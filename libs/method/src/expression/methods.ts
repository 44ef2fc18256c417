// Owns method calls: finding the receiver's kind and handing the call to the methods of lists or of texts.

import { isJsonList, type JsonValue } from '../json.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import { isText, isUnknown, membersOf, shortType, unionOf } from '../types/type.ts';
import { accessOfNull, compileReceiver, elementType } from './access.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import { ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { MethodCall } from './method-call.ts';
import { LIST_METHODS } from './methods-of-lists.ts';
import { TEXT_METHODS } from './methods-of-texts.ts';
import { ExpressionError, kindOf } from './runtime.ts';

const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['contains', 'includes'],
  ['has', 'includes'],
  ['size', 'length, without ()'],
  ['count', 'length, without ()'],
  ['all', 'every'],
  ['any', 'some'],
  ['exists', 'some'],
  ['where', 'filter'],
  ['select', 'map'],
  ['forEach', 'map'],
  ['reduce', 'sum(list)'],
  ['push', 'concat'],
  ['sort', 'sort(list, x => x.key)'],
  ['lower', 'toLowerCase'],
  ['upper', 'toUpperCase'],
  ['strip', 'trim'],
  ['replace', 'replaceAll'],
  ['test', 'matches'],
  ['match', 'matches'],
  ['toString', 'text(x)'],
]);

export function compileMethod(compiler: Compiler, expr: ExprOf<'method'>, env: Env): Compiled {
  const receiver = compileReceiver(compiler, expr.object, expr.optional, env);
  const unknown = isUnknown(receiver.type);
  const of = elementType(receiver.type);
  const onText = isText(receiver.type);
  const call = new MethodCall(compiler, expr, env, of ?? { kind: 'any' });
  const listMethod = of === undefined ? undefined : LIST_METHODS.get(expr.name);
  const textMethod = onText ? TEXT_METHODS.get(expr.name) : undefined;
  if (!listMethod && !textMethod)
    throw noMethod(
      compiler,
      expr,
      of !== undefined && !unknown ? 'list' : onText && !unknown ? 'text' : 'other',
      receiver.type,
    );
  const onList = listMethod?.(call);
  const onTexts = textMethod?.(call);
  const types = [onList?.type, onTexts?.type].filter((type) => type !== undefined);
  return {
    type: unionOf(types),
    stops: receiver.stops,
    run: (frame): JsonValue => {
      const value = receiver.run(frame);
      if (value === null) return accessOfNull(receiver);
      if (onList && isJsonList(value)) return onList.run(frame, value);
      if (onTexts && typeof value === 'string') return onTexts.run(frame, value);
      throw new ExpressionError(`${receiver.place} is ${kindOf(value)} and has no method ${expr.name}`);
    },
  };
}

function noMethod(
  compiler: Compiler,
  expr: ExprOf<'method'>,
  kind: 'list' | 'text' | 'other',
  type: Parameters<typeof shortType>[0],
): ExpressionProblem {
  const place = { start: expr.nameStart, end: expr.nameStart + expr.name.length };
  const name = expr.name.slice(0, 40);
  const foreign = FOREIGN.get(expr.name);
  const known =
    kind === 'list'
      ? [...LIST_METHODS.keys()]
      : kind === 'text'
        ? [...TEXT_METHODS.keys()]
        : [...LIST_METHODS.keys(), ...TEXT_METHODS.keys()];
  const hint = foreign === undefined ? hintNearest(expr.name, known, 'methods') : `write ${foreign}`;
  if (kind === 'list') return new ExpressionProblem('M403', `a list has no method "${name}"`, place, hint);
  if (kind === 'text') return new ExpressionProblem('M403', `text has no method "${name}"`, place, hint);
  const members = membersOf(type);
  const what =
    members.length === 1 && isUnknown(type)
      ? compiler.textOf(expr.object)
      : `${compiler.textOf(expr.object)} (${shortType(type)})`;
  return new ExpressionProblem('M403', `${what} has no method "${name}"`, place, hint);
}
