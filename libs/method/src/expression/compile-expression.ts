// Owns the expression compiler: one walk gives each node its static type and the function that computes it.
import type { CompiledExpression, Evaluator } from '../compiled-value.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import type { PatternBook } from '../types/pattern.ts';
import {
  contains,
  isBoolean,
  isNullable,
  isNumber,
  isText,
  membersOf,
  NULL,
  shortType,
  type Type,
  unionOf,
  withoutNull,
} from '../types/type.ts';
import { compileIndex, compileMember } from './access.ts';
import { compileConditional, compileFallback, compileNot, compileRow } from './choices.ts';
import type { Compiled, CompiledArrow, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';
import { compileCall } from './functions.ts';
import { compileMethod } from './methods.ts';
import { type Facts, factsOf, pathOf, presence } from './narrowing.ts';
import { compileArithmetic, compileComparison, compileEquality, compileNegate } from './operators.ts';
import { parseExpression } from './parse-expression.ts';
import { charge } from './runtime.ts';
import { compileList, compileObject, compileTemplate } from './structures.ts';

/** A name expressions can read. */
export interface Root {
  readonly type: Type;
  readonly read: Evaluator;
}

/** The place of an expression. */
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

  factsOf(expr: Expr): Facts {
    return factsOf(expr, (node) => this.#source.slice(node.start, node.end));
  }

  compile(expr: Expr, env: Env): Compiled {
    this.size++;
    const compiled = this.#node(expr, env);
    const path = env.facts.size === 0 ? undefined : pathOf(expr);
    return path !== undefined && env.facts.has(presence(path))
      ? { ...compiled, type: withoutNull(compiled.type) }
      : compiled;
  }

  operand(expr: Expr, env: Env): Compiled {
    const compiled = this.compile(expr, env);
    this.refuseSecret(expr, compiled.type);
    this.present(expr, compiled);
    return compiled;
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
      `a condition is true or false; ${text} is ${shortType(type)}`,
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
      ? `some runs have no value of this step: test  ${text} != null && …  first, or write  ${text}?.field ?? fallback`
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
    const keepsItem = this.factsOf(expr.body).yes.has(presence(name));
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
        return compileTemplate(this, expr, env);
      case 'conditional':
        return compileConditional(this, expr, env);
      case 'and':
      case 'or':
        return compileRow(this, expr, env);
      case 'fallback':
        return compileFallback(this, expr, env);
      case 'not':
        return compileNot(this, expr, env);
      case 'negate':
        return compileNegate(this, expr, env);
      case 'equality':
        return compileEquality(this, expr, env);
      case 'comparison':
        return compileComparison(this, expr, env);
      case 'arithmetic':
        return compileArithmetic(this, expr, env);
      case 'list':
        return compileList(this, expr, env);
      case 'object':
        return compileObject(this, expr, env);
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
    if (path === undefined || (env.locals.size > 0 && env.locals.has(path.split('.', 1)[0] ?? ''))) return;
    for (const known of this.paths) if (known.startsWith(`${path}.`)) return;
    if (this.paths.size < 100) this.paths.add(path);
  }
}
