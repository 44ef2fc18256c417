// Owns the compiled form of a method: what the registry, the scheduler and the executors read of it.
import type { ProductionId, VersionId } from '@methods/base/ids';
import type { AnswerPolicy } from './answer-policy.ts';
import type { CheckValue } from './check-value.ts';
import type { CompiledExpression, CompiledValue } from './compiled-value.ts';
import type { SourcePlace } from './diagnostic.ts';
import type { JsonSchema, JsonValue } from './json.ts';

export type { CompiledExpression, CompiledValue } from './compiled-value.ts';

/** A whole method, resolved and typed. Immutable; safe to cache by the source's hash. Not serializable (holds functions). */
export interface CompiledMethod {
  readonly format: 'method/2' | 'workflow/2';
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** The features a worker must have: the kinds used, sorted. */
  readonly features: readonly string[];
  readonly secrets: readonly DeclaredSecret[];
  readonly limits: MethodLimits;
  /** Closed object schema of the inputs; fields with a default are not in `required`. */
  readonly inputSchema: JsonSchema;
  /** Closed object schema of `result`, inferred from its expressions. */
  readonly resultSchema: JsonSchema;
  readonly dependencies: MethodDependencies;
  /** `lib`: code that every step of the language can call. */
  readonly lib: { readonly [Language in CodeLanguage]?: CodeBlock };
  /** Before the first step; they see inputs only. */
  readonly require: readonly CompiledCheck[];
  readonly steps: readonly CompiledStep[];
  /** After the last step. */
  readonly ensure: readonly CompiledCheck[];
  /** Runs after a failure; sees `failure`. */
  readonly onFailure: readonly CompiledStep[];
  /** Runs after success or failure, and after `onFailure`; not after a cancel. */
  readonly finally: readonly CompiledStep[];
  readonly result: ReadonlyMap<string, CompiledValue>;
  readonly tests: readonly MethodTest[];
}

export type CodeLanguage = 'node' | 'python' | 'shell';

export interface CodeBlock {
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly line: number;
}

/**
 * The dependencies that a worker prepares once a version. Versions are exact, except that of a runtime, which is the
 * lowest that serves.
 */
export interface MethodDependencies {
  /** Lowest version of the runtime, such as `20` or `3.11`; null: any. */
  readonly node: string | null;
  readonly python: string | null;
  readonly npm: readonly ExactPackage[];
  readonly pip: readonly ExactPackage[];
  /** Names of commands that must be on PATH. */
  readonly commands: readonly string[];
}

export interface ExactPackage {
  readonly name: string;
  readonly version: string;
}

/** A check judges and changes nothing; all checks of a list are evaluated and recorded before the first failed one counts. */
export interface CompiledCheck {
  /** The sentence. */
  readonly name: string;
  readonly that: CompiledExpression;
  readonly level: 'error' | 'warn';
  /** Evaluates to text. */
  readonly message: CompiledValue | null;
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

export type CompiledStep =
  | CodeStep
  | HttpStep
  | AskStep
  | CallStep
  | WaitStep
  | CheckStep
  | GroupStep
  | ParallelStep
  | LaterStep;

export type StepKind = CompiledStep['kind'];

/** The fields of every step. */
export interface StepBase {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** 1-based line of the step in the source. */
  readonly line: number;
  /** `if`: false skips the step and leaves `steps.<name>` null. */
  readonly condition?: CompiledExpression;
  /** Rounds of the step; null: it runs once. `condition` is asked in each round of `each` and once before `repeat`. */
  readonly loop: EachLoop | RepeatLoop | null;
  readonly require: readonly CompiledCheck[];
  /** They see `out`, for http also `response`. */
  readonly ensure: readonly CompiledCheck[];
  readonly retry: Retry | null;
  /** `continue`: a failure leaves `steps.<name>` null (the round's item in a loop) and is in the record. */
  readonly onError: 'fail' | 'continue';
  /** The handling of the step when its worker died while it ran. */
  readonly onInterrupt: 'rerun' | 'fail' | 'ask';
  /** The declared `out`; null when the step declares none (its value is then `{}`, that of a group its `result`). */
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
  readonly check: CheckValue;
}

/** Rounds over a list known before the first: `steps.<name>` is the list of outs, null where skipped or failed. */
export interface EachLoop {
  readonly kind: 'each';
  readonly items: CompiledExpression;
  /** The item's name in expressions and code. */
  readonly as: string;
  /** Rounds at once, 1 to 50. */
  readonly atOnce: number;
}

/** Rounds in order until `until` holds or `roundsMax` are done; they see `last` (the out before, null at first). */
export interface RepeatLoop {
  readonly kind: 'repeat';
  /** Sees `out` and `last`. */
  readonly until: CompiledExpression;
  readonly roundsMax: number;
  readonly delayMs: number;
}

export interface Retry {
  /** Tries after the first, 0 to 20. */
  readonly triesMore: number;
  readonly delayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  /** Sees `error.kind/.status/.code/.message`; null: the kinds that pass by themselves (exit, exception, timeout, network, http 408/425/429/5xx). */
  readonly condition: CompiledExpression | null;
}

/** `in`: variable name to value, in the order given. */
export type StepInputs = ReadonlyMap<string, CompiledValue>;

/** `node`, `python` or `shell`. */
export interface CodeStep extends StepBase {
  readonly kind: CodeLanguage;
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly codeLine: number;
  readonly inputs: StepInputs;
  /** The field of `out` that takes what the code prints: as text, or read as JSON. */
  readonly stdout: { readonly field: string; readonly as: 'text' | 'json' } | null;
  /** False: the code has no network, where the worker can isolate it. */
  readonly network: boolean;
}

/** Runs another method inside this run. */
export interface CallStep extends StepBase {
  readonly kind: 'call';
  readonly target: CallTarget;
  readonly inputs: StepInputs;
}

/** `pinned`: the version published when this one's lock was made; `published`: the one published when the run starts. */
export type CallTarget =
  | {
      readonly kind: 'method';
      readonly method: ProductionId;
      readonly version: 'pinned' | 'published' | { readonly id: VersionId };
    }
  /** Only in local runs: a path relative to the file. */
  | { readonly kind: 'file'; readonly path: string };

export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  /** `until` evaluates to a datetime. */
  readonly wait:
    | { readonly kind: 'for'; readonly ms: number }
    | { readonly kind: 'until'; readonly time: CompiledExpression };
}

/** Recorded as checks, not as an action. */
export interface CheckStep extends StepBase {
  readonly kind: 'check';
  readonly checks: readonly CompiledCheck[];
}

export interface GroupStep extends StepBase {
  readonly kind: 'steps';
  readonly steps: readonly CompiledStep[];
  /** The group's out; null: `{}`. Evaluated with the inner steps in scope. */
  readonly result: ReadonlyMap<string, CompiledValue> | null;
}

/** Branches that do not see each other; on a failure the others finish, then the step fails. */
export interface ParallelStep extends StepBase {
  readonly kind: 'parallel';
  /** 1 to 16. */
  readonly steps: readonly CompiledStep[];
}

/** Validated and saved; a worker that can run it must say so (warning M110). */
export interface LaterStep extends StepBase {
  readonly kind: 'browser' | 'agent';
}

/** One of the method's own tests; they never run in production. Values are plain JSON, checked by the tester. */
export interface MethodTest {
  readonly name: string;
  /** 1-based source line. */
  readonly line: number;
  readonly inputs: JsonValue;
  readonly secrets: ReadonlyMap<string, string>;
  /**
   * Step path to its out or to `{ $error: { kind, status?, code?, message?, reason?, headers?, body? } }`; files are `{
   * $file: text }`. Paths are whole (`group/inner`, `on_failure/tell`). Where a part that runs in rounds has no index,
   * a list holds one value a round of the innermost such part (null: the round is skipped), and anything else is for
   * every round.
   */
  readonly mock: ReadonlyMap<string, JsonValue>;
  /** Ask step to its answer, by the same paths and lists. */
  readonly answers: ReadonlyMap<string, JsonValue>;
  readonly expect: TestExpectation;
}

export interface TestExpectation {
  readonly status: 'succeeded' | 'failed' | 'waiting' | null;
  /** A part of the result. */
  readonly result: JsonValue | null;
  readonly skipped: readonly string[];
  readonly failedStep: string | null;
  readonly checksFailed: readonly string[];
  /** They see `inputs`, `steps`, `result`. */
  readonly that: readonly CompiledCheck[];
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
  /** The rules of who answers and when; null: the step gives none. */
  readonly policy: AnswerPolicy | null;
  /** The place of `needs`; null: there is none. */
  readonly needsAt: SourcePlace | null;
}
