// Owns one method call under compilation: its arguments, checked against what the method takes.
import type { Frame } from '../compiled-value.ts';
import type { JsonValue } from '../json.ts';
import { isNumber, isText, shortType, type Type } from '../types/type.ts';
import type { Compiled, CompiledArrow, Compiler, Env } from './compiler-context.ts';
import { type Expr, ExpressionProblem, type ExprOf } from './expression-tree.ts';

/** A compiled method: the result's type, and its work on one receiver. */
export interface CompiledMethodCall<R> {
  readonly type: Type;
  readonly run: (frame: Frame, receiver: R) => JsonValue;
}

export class MethodCall {
  readonly compiler: Compiler;
  readonly expr: ExprOf<'method'>;
  readonly env: Env;
  /** Element type of a list receiver. */
  readonly of: Type;

  constructor(compiler: Compiler, expr: ExprOf<'method'>, env: Env, of: Type) {
    this.compiler = compiler;
    this.expr = expr;
    this.env = env;
    this.of = of;
  }

  /** M406 unless the call has this many arguments. */
  takes(least: number, most = least): void {
    const given = this.expr.args.length;
    if (given >= least && given <= most) return;
    const wanted = least === most ? String(least) : `${least} to ${most}`;
    throw new ExpressionProblem(
      'M406',
      `${this.expr.name} takes ${wanted} value${wanted === '1' ? '' : 's'}`,
      this.expr,
    );
  }

  argument(index: number): Expr {
    return this.expr.args[index] ?? this.expr;
  }

  place(index: number): string {
    return this.compiler.textOf(this.argument(index));
  }

  /** The one function of a list method; as a `condition` its body must be true or false (M404). */
  arrow(wanted: 'value' | 'condition'): CompiledArrow {
    this.takes(1);
    return this.compiler.arrow(this.expr.args[0], this.of, this.env, this.expr, wanted);
  }

  value(index: number): Compiled {
    const value = this.compiler.compile(this.argument(index), this.env);
    this.compiler.refuseSecret(this.argument(index), value.type);
    return value;
  }

  text(index: number): Compiled {
    const value = this.compiler.operand(this.argument(index), this.env);
    if (isText(value.type)) return value;
    throw new ExpressionProblem(
      'M406',
      `${this.expr.name} takes text, not ${shortType(value.type)}`,
      this.argument(index),
    );
  }

  number(index: number): Compiled | undefined {
    if (index >= this.expr.args.length) return undefined;
    const value = this.compiler.operand(this.argument(index), this.env);
    if (isNumber(value.type)) return value;
    throw new ExpressionProblem(
      'M406',
      `${this.expr.name} takes numbers, not ${shortType(value.type)}`,
      this.argument(index),
    );
  }
}
