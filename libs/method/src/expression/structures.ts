// Owns composed values: lists, objects and texts with insertions.
import { type JsonValue, objectOf } from '../json.ts';
import { ANY, isUnknown, membersOf, STRING, shortType, unionOf } from '../types/type.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { charge, chargeText, expectList, scalarText } from './runtime.ts';

export function compileList(compiler: Compiler, expr: ExprOf<'list'>, env: Env): Compiled {
  const items = expr.items.map(({ spread, value }) => {
    if (!spread) return { spread, ...compiler.compile(value, env), place: '' };
    const list = compiler.operand(value, env);
    const members = membersOf(list.type);
    if (!isUnknown(list.type) && members.some((member) => member.kind !== 'list')) {
      throw new ExpressionProblem('M406', `... needs a list, not ${shortType(list.type)}`, value);
    }
    const of = unionOf(members.map((member) => (member.kind === 'list' ? member.of : ANY)));
    return { spread, run: list.run, type: of, place: compiler.textOf(value) };
  });
  return {
    type: { kind: 'list', of: items.length === 0 ? ANY : unionOf(items.map((item) => item.type)), bounds: {} },
    run: (frame) => {
      const list: JsonValue[] = [];
      for (const item of items) {
        const value = item.run(frame);
        if (!item.spread) list.push(value);
        else {
          const spread = expectList(value, item.place);
          charge(frame, spread.length);
          for (const inner of spread) list.push(inner);
        }
      }
      return list;
    },
  };
}

export function compileObject(compiler: Compiler, expr: ExprOf<'object'>, env: Env): Compiled {
  const fields = new Map<string, Compiled>();
  for (const { name, value } of expr.fields) {
    if (fields.has(name)) throw new ExpressionProblem('M402', `"${name.slice(0, 40)}" is given twice`, value);
    fields.set(name, compiler.compile(value, env));
  }
  const types = Array.from(fields, ([name, field]) => [name, { type: field.type, optional: false }] as const);
  return {
    type: { kind: 'object', fields: new Map(types) },
    run: (frame) => objectOf(Array.from(fields, ([name, field]) => [name, field.run(frame)] as const)),
  };
}

export function compileTemplate(compiler: Compiler, expr: ExprOf<'template'>, env: Env): Compiled {
  const values = expr.values.map((value) => scalar(compiler, value, env));
  const places = expr.values.map((value) => compiler.textOf(value));
  const { texts } = expr;
  return {
    type: STRING,
    run: (frame) => {
      let text = texts[0] ?? '';
      for (const [index, value] of values.entries()) {
        text += scalarText(value.run(frame), places[index] ?? '') + (texts[index + 1] ?? '');
        chargeText(frame, text.length);
      }
      return text;
    },
  };
}

/** A value with a text form (M407). */
function scalar(compiler: Compiler, expr: Expr, env: Env): Compiled {
  const compiled = compiler.operand(expr, env);
  const bad = membersOf(compiled.type).find((member) =>
    ['list', 'map', 'object', 'open', 'file'].includes(member.kind),
  );
  if (!bad) return compiled;
  const text = compiler.textOf(expr);
  throw new ExpressionProblem(
    'M407',
    `${text} is ${shortType(bad)}, which has no text form`,
    expr,
    `write  json(${text})  or pick a field`,
  );
}
