// Owns the compiled form of one value place: a literal, an expression, a text with insertions, or a structure of those.
import type { JsonObject, JsonValue } from './json.ts';

/** Names an expression can read. Which of the optional ones exist depends on the place; the compiler has checked that. */
export interface Scope {
  readonly inputs: JsonObject;
  readonly run: { readonly id: string; readonly started_at: string; readonly version_id: string };
  /** Finished steps by name: the out, `{}` without one, null (or no entry) when skipped. */
  readonly steps: Readonly<Record<string, JsonValue>>;
  readonly out?: JsonValue;
  /** The items of the loops around, by their `as`. */
  readonly items?: Readonly<Record<string, JsonValue>>;
  /** The out of the round before; null in the first. */
  readonly last?: JsonValue;
  /** The value that `retry.if` reads: `{ kind, message, status, code }`. */
  readonly error?: JsonObject;
  /** The value that `on_failure` reads: `{ step, kind, message }`. */
  readonly failure?: JsonObject;
  /** The method's result, for the checks of its tests. */
  readonly result?: JsonObject;
  /** The value that `take` reads: `{ status, headers, body, file }`. */
  readonly response?: JsonObject;
  /** Gives the text of a declared secret; only http fields call it. */
  readonly secrets?: (name: string) => string;
}

/** The state of one evaluation: the scope, arrow-function parameters by slot, and the fuel left. */
export interface Frame {
  readonly scope: Scope;
  readonly locals: JsonValue[];
  fuel: number;
}

export type Evaluator = (frame: Frame) => JsonValue;

/** A checked expression; names and methods are resolved, so running it needs no parsing and no look-ups. */
export interface CompiledExpression {
  readonly kind: 'expression';
  readonly source: string;
  /** Paths read, such as `steps.order.total`; sorted, without duplicates. */
  readonly paths: readonly string[];
  /** Evaluation steps of one run, inner functions apart: charged at the start. */
  readonly size: number;
  readonly run: Evaluator;
}

export type CompiledValue =
  | CompiledExpression
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | {
      readonly kind: 'text';
      readonly parts: readonly (string | CompiledExpression)[];
      /** `url`: insertions are percent-encoded, except one that opens the text. */
      readonly encoding: 'none' | 'url';
    }
  | { readonly kind: 'list'; readonly items: readonly CompiledValue[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, CompiledValue])[] }
  | { readonly kind: 'secret'; readonly name: string };
