// Owns the operators that choose between values: `a ? b : c`, `&&`, `||`, `??` and `!`. Each side knows what the others
// have shown.
import type { JsonValue } from '../json.ts';
import { BOOLEAN, unionOf, withoutNull } from '../types/type.ts';
import type { Compiled, Compiler, Env } from './compiler-context.ts';
import type { ExprOf } from './expression-tree.ts';
import { expectBoolean } from './runtime.ts';

export function compileConditional(compiler: Compiler, expr: ExprOf<'conditional'>, env: Env): Compiled {
  const test = compiler.condition(expr.test, env);
  const facts = compiler.factsOf(expr.test);
  const yes = compiler.compile(expr.yes, narrowed(env, facts.yes));
  const no = compiler.compile(expr.no, narrowed(env, facts.no));
  const place = compiler.textOf(expr.test);
  return {
    type: unionOf([yes.type, no.type]),
    run: (frame) => (expectBoolean(test.run(frame), place) ? yes.run(frame) : no.run(frame)),
  };
}

export function compileNot(compiler: Compiler, expr: ExprOf<'not'>, env: Env): Compiled {
  const value = compiler.condition(expr.value, env);
  const place = compiler.textOf(expr.value);
  return { type: BOOLEAN, run: (frame) => !expectBoolean(value.run(frame), place) };
}

export function compileRow(compiler: Compiler, expr: ExprOf<'and'> | ExprOf<'or'>, env: Env): Compiled {
  const isAnd = expr.kind === 'and';
  const known = new Set(env.facts);
  const operands = expr.operands.map((operand) => {
    // One growing set for the whole row: a copy for each operand would make long conditions quadratic.
    const compiled = compiler.condition(operand, { facts: known, locals: env.locals });
    const facts = compiler.factsOf(operand);
    for (const fact of isAnd ? facts.yes : facts.no) known.add(fact);
    return { run: compiled.run, place: compiler.textOf(operand) };
  });
  return {
    type: BOOLEAN,
    run: (frame) => {
      for (const operand of operands) if (expectBoolean(operand.run(frame), operand.place) !== isAnd) return !isAnd;
      return isAnd;
    },
  };
}

export function compileFallback(compiler: Compiler, expr: ExprOf<'fallback'>, env: Env): Compiled {
  const operands = expr.operands.map((operand) => compiler.compile(operand, env));
  const types = operands.map((operand, index) =>
    index < operands.length - 1 ? withoutNull(operand.type) : operand.type,
  );
  return {
    // A left side that is always null contributes nothing.
    type: unionOf(types.filter((type, index) => index === types.length - 1 || type.kind !== 'null')),
    run: (frame) => {
      let value: JsonValue = null;
      for (const operand of operands) {
        value = operand.run(frame);
        if (value !== null) break;
      }
      return value;
    },
  };
}

function narrowed(env: Env, facts: ReadonlySet<string>): Env {
  return { facts: new Set([...env.facts, ...facts]), locals: env.locals };
}
