// Owns the expression compiler: one walk gives each node its static type and the function that computes it.
import type { CompiledExpression, Evaluator } from '../compiled-value.ts';
import { type JsonValue, objectOf } from '../json.ts';
import { hintNearest } from '../structure/did-you-mean.ts';
import type { PatternBook } from '../types/pattern.ts';
import {
  ANY,
  BOOLEAN,
  contains,
  isBoolean,
  isNullable,
  isNumber,
  isText,
  isUnknown,
  membersOf,
  NULL,
  STRING,
  showType,
  type Type,
  unionOf,
  withoutNull,
} from '../types/type.ts';
import { compileIndex, compileMember } from './access.ts';
import type { Compiled, CompiledArrow, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { compileCall } from './functions.ts';
import { compileMethod } from './methods.ts';
import { factsOf, pathOf, presence } from './narrowing.ts';
import { compileArithmetic, compileComparison, compileEquality, compileNegate } from './operators.ts';
import { parseExpression } from './parse-expression.ts';
import { charge, chargeText, expectBoolean, expectList, scalarText } from './runtime.ts';

/** A name expressions can read. */
export interface Root {
  readonly type: Type;
  readonly read: Evaluator;
}

/** Where an expression stands. */
export interface ExpressionPlace {
  readonly roots: ReadonlyMap<string, Root>;
  /** Facts known at the place, such as those of the step's own `if`. */
  readonly facts: ReadonlySet<string>;
}

export interface TypedExpression {
  readonly expression: CompiledExpression;
  readonly type: Type;
  readonly tree: Expr;
}

/** Parses, checks and compiles. Throws `ExpressionProblem` with offsets into `source`. */
export function compileExpression(
  source: string,
  place: ExpressionPlace,
  patterns: PatternBook,
  wanted: 'value' | 'condition' = 'value',
): TypedExpression {
  const tree = parseExpression(source);
  const compiler = new ExpressionCompiler(source, place.roots, patterns);
  const env: Env = { facts: place.facts, locals: new Map() };
  const compiled = wanted === 'condition' ? compiler.condition(tree, env) : compiler.compile(tree, env);
  const paths = [...compiler.paths].sort();
  return {
    tree,
    type: compiled.type,
    expression: { kind: 'expression', source, paths, size: compiler.size, run: compiled.run },
  };
}

class ExpressionCompiler implements Compiler {
  readonly paths = new Set<string>();
  readonly patterns: PatternBook;
  /** Nodes compiled outside of arrow functions; the price of one run. */
  size = 0;
  readonly #source: string;
  readonly #roots: ReadonlyMap<string, Root>;

  constructor(source: string, roots: ReadonlyMap<string, Root>, patterns: PatternBook) {
    this.#source = source;
    this.patterns = patterns;
    this.#roots = roots;
  }

  textOf(expr: { readonly start: number; readonly end: number }): string {
    const text = this.#source.slice(expr.start, expr.end);
    return text.length > 80 ? `${text.slice(0, 80)}…` : text;
  }

  compile(expr: Expr, env: Env): Compiled {
    this.size++;
    const compiled = this.#node(expr, env);
    const path = pathOf(expr);
    if (path === undefined || expr.kind === 'chain') return compiled;
    return env.facts.has(presence(path)) ? { ...compiled, type: withoutNull(compiled.type) } : compiled;
  }

  operand(expr: Expr, env: Env): Compiled {
    const compiled = this.compile(expr, env);
    this.refuseSecret(expr, compiled.type);
    return { ...compiled, type: this.present(expr, compiled) };
  }

  condition(expr: Expr, env: Env): Compiled {
    const compiled = this.operand(expr, env);
    const { type } = compiled;
    if (isBoolean(type)) return compiled;
    const text = this.textOf(expr);
    const better = membersOf(type).every((member) => member.kind === 'list')
      ? `${text}.length > 0`
      : isText(type)
        ? `${text} != ""`
        : isNumber(type)
          ? `${text} > 0`
          : `${text} != null`;
    throw new ExpressionProblem(
      'M404',
      `a condition is true or false; ${text} is ${short(type)}`,
      expr,
      `write  ${better}`,
    );
  }

  present(expr: Expr, compiled: Compiled): Type {
    const { type } = compiled;
    if (!isNullable(type)) return type;
    const text = this.textOf(expr);
    if (expr.kind === 'literal') throw new ExpressionProblem('M405', 'null has no value here', expr);
    const path = pathOf(expr);
    const isStep = path !== undefined && /^steps\.\w+$/.test(path);
    const hint = isStep
      ? `the step is skipped in some runs: test  ${text} != null && …  first, or write  ${text}?.field ?? fallback`
      : `test  ${text} != null && …  first, or write  ${text} ?? fallback`;
    throw new ExpressionProblem('M405', `${text} may be absent here`, expr, hint);
  }

  refuseSecret(expr: Expr, type: Type): void {
    if (!contains(type, 'secret')) return;
    throw new ExpressionProblem(
      'M606',
      `${this.textOf(expr)} is a secret: it can only be passed on as a whole value`,
      expr,
    );
  }

  arrow(
    expr: Expr | undefined,
    item: Type,
    env: Env,
    around: Expr,
    wanted: 'value' | 'condition' = 'value',
  ): CompiledArrow {
    if (expr?.kind !== 'arrow') {
      throw new ExpressionProblem('M402', 'expected a function such as x => x.id', expr ?? around);
    }
    const locals = new Map(env.locals);
    const [name = '', indexName] = expr.params;
    const slots = [name, indexName].filter((param) => param !== undefined);
    for (const param of slots) {
      if (this.#roots.has(param) || param === 'secrets' || locals.has(param)) {
        throw new ExpressionProblem(
          'M204',
          `"${param}" already has a meaning here`,
          expr,
          'choose another name for the parameter',
        );
      }
      locals.set(param, { slot: locals.size, type: param === name ? item : { kind: 'integer', bounds: {} } });
    }
    const outside = this.size;
    const inner: Env = { facts: env.facts, locals };
    const body = wanted === 'condition' ? this.condition(expr.body, inner) : this.compile(expr.body, inner);
    const price = this.size - outside;
    this.size = outside;
    const first = locals.get(name)?.slot ?? 0;
    const second = indexName === undefined ? undefined : locals.get(indexName)?.slot;
    const keepsItem = factsOf(expr.body, (node) => this.#source.slice(node.start, node.end)).yes.has(presence(name));
    return {
      type: body.type,
      narrowed: keepsItem ? withoutNull(item) : item,
      run: (frame, value, index) => {
        charge(frame, price);
        frame.locals[first] = value;
        if (second !== undefined) frame.locals[second] = index;
        return body.run(frame);
      },
    };
  }

  #node(expr: Expr, env: Env): Compiled {
    switch (expr.kind) {
      case 'literal': {
        const { value } = expr;
        return { type: value === null ? NULL : { kind: 'choice', values: [value] }, run: () => value };
      }
      case 'name':
        return this.#name(expr, env);
      case 'member':
      case 'index': {
        this.#recordPath(expr, env);
        return expr.kind === 'member' ? compileMember(this, expr, env) : compileIndex(this, expr, env);
      }
      case 'method':
        return compileMethod(this, expr, env);
      case 'call':
        return compileCall(this, expr, env);
      case 'chain': {
        const inner = this.compile(expr.value, env);
        return inner.stops ? { type: unionOf([inner.type, NULL]), run: inner.run } : inner;
      }
      case 'template':
        return this.#template(expr, env);
      case 'conditional': {
        const test = this.condition(expr.test, env);
        const facts = factsOf(expr.test, (node) => this.#source.slice(node.start, node.end));
        const yes = this.compile(expr.yes, narrowed(env, facts.yes));
        const no = this.compile(expr.no, narrowed(env, facts.no));
        const place = this.textOf(expr.test);
        return {
          type: unionOf([yes.type, no.type]),
          run: (frame) => (expectBoolean(test.run(frame), place) ? yes.run(frame) : no.run(frame)),
        };
      }
      case 'and':
      case 'or':
        return this.#row(expr, env);
      case 'fallback':
        return this.#fallback(expr, env);
      case 'not': {
        const value = this.condition(expr.value, env);
        const place = this.textOf(expr.value);
        return { type: BOOLEAN, run: (frame) => !expectBoolean(value.run(frame), place) };
      }
      case 'negate':
        return compileNegate(this, expr, env);
      case 'equality':
        return compileEquality(this, expr, env);
      case 'comparison':
        return compileComparison(this, expr, env);
      case 'arithmetic':
        return compileArithmetic(this, expr, env);
      case 'list':
        return this.#list(expr, env);
      case 'object':
        return this.#object(expr, env);
      case 'arrow':
        throw new ExpressionProblem(
          'M402',
          'a function can only be given to a list method such as filter or map',
          expr,
        );
    }
  }

  #name(expr: ExprOf<'name'>, env: Env): Compiled {
    const local = env.locals.get(expr.name);
    if (local) {
      const { slot, type } = local;
      return { type, run: (frame) => frame.locals[slot] ?? null };
    }
    const root = this.#roots.get(expr.name);
    if (root) {
      this.#recordPath(expr, env);
      return { type: root.type, run: root.read };
    }
    if (expr.name === 'secrets') {
      throw new ExpressionProblem(
        'M606',
        'a secret is only a whole value in an http field, such as  =secrets.NAME',
        expr,
        "code lists it under the step's secrets:",
      );
    }
    const hint = hintNearest(expr.name, [...env.locals.keys(), ...this.#roots.keys()], 'known names');
    throw new ExpressionProblem('M403', `unknown name "${expr.name.slice(0, 40)}"`, expr, hint);
  }

  /** Keeps the longest paths only: `steps.a.b` rather than `steps`, `steps.a` and `steps.a.b`. */
  #recordPath(expr: Expr, env: Env): void {
    const path = pathOf(expr);
    if (path === undefined || env.locals.has(path.split('.', 1)[0] ?? '')) return;
    for (const known of this.paths) if (known.startsWith(`${path}.`)) return;
    if (this.paths.size < 100) this.paths.add(path);
  }

  #template(expr: ExprOf<'template'>, env: Env): Compiled {
    const values = expr.values.map((value) => this.scalar(value, env));
    const places = expr.values.map((value) => this.textOf(value));
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
  scalar(expr: Expr, env: Env): Compiled {
    const compiled = this.operand(expr, env);
    const bad = membersOf(compiled.type).find((member) =>
      ['list', 'map', 'object', 'open', 'file'].includes(member.kind),
    );
    if (!bad) return compiled;
    const text = this.textOf(expr);
    throw new ExpressionProblem(
      'M407',
      `${text} is ${short(bad)}, which has no text form`,
      expr,
      `write  json(${text})  or pick a field`,
    );
  }

  #row(expr: ExprOf<'and' | 'or'>, env: Env): Compiled {
    const isAnd = expr.kind === 'and';
    const known = new Set(env.facts);
    const operands = expr.operands.map((operand) => {
      // One growing set for the whole row: a copy for each operand would make long conditions quadratic.
      const compiled = this.condition(operand, { facts: known, locals: env.locals });
      const facts = factsOf(operand, (node) => this.#source.slice(node.start, node.end));
      for (const fact of isAnd ? facts.yes : facts.no) known.add(fact);
      return { run: compiled.run, place: this.textOf(operand) };
    });
    return {
      type: BOOLEAN,
      run: (frame) => {
        for (const operand of operands) if (expectBoolean(operand.run(frame), operand.place) !== isAnd) return !isAnd;
        return isAnd;
      },
    };
  }

  #fallback(expr: ExprOf<'fallback'>, env: Env): Compiled {
    const operands = expr.operands.map((operand) => this.compile(operand, env));
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

  #list(expr: ExprOf<'list'>, env: Env): Compiled {
    const items = expr.items.map(({ spread, value }) => {
      if (!spread) return { spread, ...this.compile(value, env), place: '' };
      const list = this.operand(value, env);
      const members = membersOf(list.type);
      if (!isUnknown(list.type) && members.some((member) => member.kind !== 'list')) {
        throw new ExpressionProblem('M406', `... needs a list, not ${short(list.type)}`, value);
      }
      const of = unionOf(members.map((member) => (member.kind === 'list' ? member.of : ANY)));
      return { spread, run: list.run, type: of, place: this.textOf(value) };
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

  #object(expr: ExprOf<'object'>, env: Env): Compiled {
    const fields = new Map<string, Compiled>();
    for (const { name, value } of expr.fields) {
      if (fields.has(name)) throw new ExpressionProblem('M402', `"${name.slice(0, 40)}" is given twice`, value);
      fields.set(name, this.compile(value, env));
    }
    const types = Array.from(fields, ([name, field]) => [name, { type: field.type, optional: false }] as const);
    return {
      type: { kind: 'object', fields: new Map(types) },
      run: (frame) => objectOf(Array.from(fields, ([name, field]) => [name, field.run(frame)] as const)),
    };
  }
}

function narrowed(env: Env, facts: ReadonlySet<string>): Env {
  return { facts: new Set([...env.facts, ...facts]), locals: env.locals };
}

function short(type: Type): string {
  const text = showType(type);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
