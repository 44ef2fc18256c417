// Owns the tree of an expression: the part of JavaScript this language has, and nothing else.
import type { ScalarValue } from '../types/type.ts';

/** Offsets into the expression's text, end exclusive; parentheses around a node are not part of it. */
interface Placed {
  readonly start: number;
  readonly end: number;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export type ComparisonOperator = '<' | '<=' | '>' | '>=';

export type Expr = Placed &
  (
    | { readonly kind: 'literal'; readonly value: ScalarValue }
    | { readonly kind: 'template'; readonly texts: readonly string[]; readonly values: readonly Expr[] }
    | { readonly kind: 'name'; readonly name: string }
    | {
        readonly kind: 'member';
        readonly object: Expr;
        readonly name: string;
        readonly optional: boolean;
        readonly nameStart: number;
      }
    | { readonly kind: 'index'; readonly object: Expr; readonly index: Expr; readonly optional: boolean }
    | {
        readonly kind: 'method';
        readonly object: Expr;
        readonly name: string;
        readonly optional: boolean;
        readonly nameStart: number;
        readonly args: readonly Expr[];
      }
    | { readonly kind: 'call'; readonly name: string; readonly nameStart: number; readonly args: readonly Expr[] }
    /** End of an optional chain: `?.` inside it gives null here. */
    | { readonly kind: 'chain'; readonly value: Expr }
    | { readonly kind: 'conditional'; readonly test: Expr; readonly yes: Expr; readonly no: Expr }
    /** `&&`, `||` and `??` with all operands of a row at one level, so that long conditions do not nest. */
    | { readonly kind: 'and'; readonly operands: readonly Expr[] }
    | { readonly kind: 'or'; readonly operands: readonly Expr[] }
    | { readonly kind: 'fallback'; readonly operands: readonly Expr[] }
    | { readonly kind: 'not'; readonly value: Expr }
    | { readonly kind: 'negate'; readonly value: Expr }
    | { readonly kind: 'equality'; readonly negated: boolean; readonly left: Expr; readonly right: Expr }
    | { readonly kind: 'comparison'; readonly operator: ComparisonOperator; readonly left: Expr; readonly right: Expr }
    /** A row of operators of one precedence, from left to right. */
    | {
        readonly kind: 'arithmetic';
        readonly first: Expr;
        readonly rest: readonly { readonly operator: ArithmeticOperator; readonly value: Expr }[];
      }
    | { readonly kind: 'list'; readonly items: readonly { readonly spread: boolean; readonly value: Expr }[] }
    | { readonly kind: 'object'; readonly fields: readonly { readonly name: string; readonly value: Expr }[] }
    | { readonly kind: 'arrow'; readonly params: readonly string[]; readonly body: Expr }
  );

export type ExprOf<K extends Expr['kind']> = Extract<Expr, { kind: K }>;

/** An invalid expression. `start` and `end` are offsets into its text. */
export class ExpressionProblem extends Error {
  readonly code: string;
  readonly start: number;
  readonly end: number;
  readonly hint: string | undefined;

  constructor(code: string, message: string, place: Placed, hint?: string) {
    super(message);
    this.code = code;
    this.start = place.start;
    this.end = place.end;
    this.hint = hint;
  }
}
