// Owns the compiled form of a method: what the registry, the scheduler and the executors read of it.
import type { ValueCheck } from './check-value.ts';
import type { CompiledExpression, CompiledValue } from './compiled-value.ts';
import type { JsonSchema, JsonValue } from './json.ts';

export type { CompiledExpression, CompiledValue } from './compiled-value.ts';

/** A whole method, resolved and typed. Immutable; safe to cache by the source's hash. Not serializable (holds functions). */
export interface CompiledMethod {
  readonly format: 'method/2' | 'workflow/2';
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** What a worker must be able to do: the kinds used, sorted. */
  readonly features: readonly string[];
  readonly secrets: readonly DeclaredSecret[];
  readonly limits: MethodLimits;
  /** Closed object schema of the inputs; fields with a default are not in `required`. */
  readonly inputSchema: JsonSchema;
  /** Closed object schema of `result`, inferred from its expressions. */
  readonly resultSchema: JsonSchema;
  readonly steps: readonly CompiledStep[];
  readonly result: ReadonlyMap<string, CompiledValue>;
}

export interface DeclaredSecret {
  readonly name: string;
  readonly note?: string;
}

export interface MethodLimits {
  /** Running time of the whole run; null: no bound of the method's own. */
  readonly runTimeoutMs: number | null;
  readonly stepsMax: number;
}

export interface StepLimits {
  /** Deadline of each try (for `ask`: from the question on); null: none. */
  readonly timeoutMs: number | null;
  /** The deadline in the author's spelling, such as `3d` (`60000ms` for `timeout_ms`); null: none. */
  readonly timeoutText: string | null;
  readonly outputBytesMax: number;
  readonly logBytesMax: number;
  readonly memoryMb: number;
  readonly filesBytesMax: number;
}

export type CompiledStep = NodeStep | HttpStep | AskStep;

interface StepBase {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** 1-based line of the step in the source. */
  readonly line: number;
  /** `if`: false skips the step and leaves `steps.<name>` null. */
  readonly condition?: CompiledExpression;
  /** The declared `out`; null when the step declares none (its value is then `{}`). */
  readonly out: OutFields | null;
  /** Names of the secrets this step may see (`secrets:` of code, those an http step names). */
  readonly secrets: readonly string[];
  readonly limits: StepLimits;
}

/** Declared fields of a step's out. */
export interface OutFields {
  readonly names: readonly string[];
  /** Closed object schema. */
  readonly schema: JsonSchema;
  /** True when a field holds a `secret` at any depth: the out is never stored, the step runs again after a resume. */
  readonly hasSecret: boolean;
  /** True when a field holds a `file` at any depth. */
  readonly hasFile: boolean;
  /** Checks a projected value against `schema` and fills defaults in; compiled at the first call. */
  readonly check: (value: JsonValue) => ValueCheck;
}

export interface NodeStep extends StepBase {
  readonly kind: 'node';
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly codeLine: number;
  /** `in`: variable name to value. */
  readonly inputs: ReadonlyMap<string, CompiledValue>;
}

export type HttpVerb = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head';

export interface HttpStep extends StepBase {
  readonly kind: 'http';
  readonly verb: HttpVerb;
  /** Evaluates to the whole URL as text; inserted values are already percent-encoded. */
  readonly url: CompiledValue;
  /** Evaluates to an object of scalars, lists of scalars (repeated names) and nulls (left out); null: no query. */
  readonly query: CompiledValue | null;
  /** Evaluates to an object of scalars and nulls (left out; a null `Idempotency-Key` turns ours off); null: none. */
  readonly headers: CompiledValue | null;
  readonly auth: HttpAuth | null;
  readonly body: HttpBody;
  /** Statuses that succeed besides 2xx. */
  readonly accept: readonly number[];
  /** Out field to expression over `response`; null: out comes from the JSON body by name. */
  readonly take: ReadonlyMap<string, CompiledExpression> | null;
  /** True when `take` reads `response.file`: the body is kept as a file rather than parsed. */
  readonly keepsFile: boolean;
}

/** Credentials; each value evaluates to text. */
export type HttpAuth =
  | { readonly kind: 'bearer'; readonly token: CompiledValue }
  | { readonly kind: 'basic'; readonly user: CompiledValue; readonly password: CompiledValue }
  | { readonly kind: 'header'; readonly header: string; readonly secret: CompiledValue };

/** `form` evaluates to an object as `query` does, `text` to text, `file` to a file value. */
export type HttpBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json' | 'form' | 'text' | 'file'; readonly value: CompiledValue };

export interface AskStep extends StepBase {
  readonly kind: 'ask';
  /** Evaluates to plain text, never markup. */
  readonly question: CompiledValue;
  readonly details?: CompiledValue;
  readonly show: readonly { readonly path: string; readonly value: CompiledExpression }[];
  /** Schema of the answer: the form. Same object as `out.schema`. */
  readonly form: JsonSchema;
}
