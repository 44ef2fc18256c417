// Owns the types that the parts of the expression compiler share: the result of compiling a node, and the context
// around it.
import type { Evaluator, Frame } from '../compiled-value.ts';
import type { JsonValue } from '../json.ts';
import type { PatternBook } from '../types/pattern.ts';
import type { Type } from '../types/type.ts';
import type { Expr } from './expression-tree.ts';
import type { Facts } from './narrowing.ts';

/** A compiled node: its static type and the function that computes it. */
export interface Compiled {
  readonly type: Type;
  readonly run: Evaluator;
  /** Inside an optional chain that may have stopped: null passes through instead of failing. */
  readonly stops?: boolean;
}

/** The facts known at a node. Immutable; narrowing makes a new one. */
export interface Env {
  /** Keys of `narrowing.ts`: paths known to be present and conditions known to be true. */
  readonly facts: ReadonlySet<string>;
  /** Parameters of the arrow functions around, by name. */
  readonly locals: ReadonlyMap<string, { readonly slot: number; readonly type: Type }>;
}

/** A compiled arrow function. */
export interface CompiledArrow {
  readonly type: Type;
  /** The item's type where the body was true: `x => x != null` takes null away. */
  readonly narrowed: Type;
  readonly run: (frame: Frame, item: JsonValue, index: number) => JsonValue;
}

/** The compiler as its parts see it. Every method throws `ExpressionProblem` on an invalid node. */
export interface Compiler {
  /** The method's patterns. */
  readonly patterns: PatternBook;
  compile(expr: Expr, env: Env): Compiled;
  /** Compiles a value that must be present and not be a secret (M405, M606). */
  operand(expr: Expr, env: Env): Compiled;
  /** Compiles a condition (M404). */
  condition(expr: Expr, env: Env): Compiled;
  arrow(expr: Expr | undefined, item: Type, env: Env, around: Expr, wanted?: 'value' | 'condition'): CompiledArrow;
  /** The facts of a condition when it is true, and when it is false. */
  factsOf(expr: Expr): Facts;
  /** The author's text of a node, for messages. */
  textOf(expr: { readonly start: number; readonly end: number }): string;
  /** The type without null; M405 when it can be null. */
  present(expr: Expr, compiled: Compiled): Type;
  /** M606 when a value of the type can hold a secret. */
  refuseSecret(expr: Expr, type: Type): void;
}
