// Owns the judgement of an answer by the `ensure` of its ask step, wherever the answer is taken: the other values that
// the checks read are recorded when the question is asked.

import type { AskStep, CallTarget, CompiledMethod, CompiledStep } from './compiled-method.ts';
import { ExpressionError, evaluate, type Scope } from './evaluate.ts';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from './json.ts';
import { utf8Bytes } from './utf8-bytes.ts';

/** The scope of a question travels with it and is kept with its run. */
const SCOPE_BYTES_MAX = 64 * 1024;

/**
 * The values that the step's checks read, without the answer; null: it is larger than 64 KiB. Empty where it has no
 * checks.
 */
export function scopeOfAnswer({ ensure }: Pick<AskStep, 'ensure'>, scope: Scope): JsonObject | null {
  const read: Record<string, JsonValue> = Object.create(null);
  const known = scope as unknown as JsonObject;
  for (const { that, message } of ensure) {
    const paths = message === null ? that.paths : [...that.paths, ...pathsOf(message)];
    for (const path of paths) {
      const [root = '', ...rest] = path.split('.');
      if (root === 'out') continue;
      const isItem = ownField(known, root) === undefined;
      const at = isItem ? 'items' : root;
      const from = ownField(known, at);
      if (from !== undefined) put(read, at, from, isItem ? [root, ...rest] : rest);
    }
  }
  const json = JSON.stringify(read);
  return utf8Bytes(json) > SCOPE_BYTES_MAX ? null : (JSON.parse(json) as JsonObject);
}

/** Copies the values at `names` below `from[name]`: objects part by part, anything else whole. */
function put(into: Record<string, JsonValue>, name: string, from: JsonValue, names: readonly string[]): void {
  const [next, ...rest] = names;
  if (next === undefined || !isJsonObject(from)) {
    into[name] = from;
    return;
  }
  const known = into[name];
  // Without a prototype: a field may have any name. It may be known already, whole or part by part.
  const part: Record<string, JsonValue> = Object.assign(Object.create(null), isJsonObject(known) ? known : {});
  const value = ownField(from, next);
  if (value !== undefined) put(part, next, value, rest);
  into[name] = part;
}

function pathsOf(message: NonNullable<AskStep['ensure'][number]['message']>): readonly string[] {
  if (message.kind === 'expression') return message.paths;
  if (message.kind !== 'text') return [];
  return message.parts.flatMap((part) => (typeof part === 'string' ? [] : part.paths));
}

export interface RefusedAnswer {
  /** The check's sentence. */
  readonly name: string;
  /** Its message, where it has one and it could be made. */
  readonly message: string | null;
}

/**
 * The checks at level `error` that the answer does not meet. `asked`: of `scopeOfAnswer`; null: only checks that read
 * nothing but the answer are judged here. A check that cannot be evaluated refuses the answer too. With a `tank`, those that it does not
 * reach refuse nothing. Never throws.
 */
export function refusedBy(
  { ensure }: Pick<AskStep, 'ensure'>,
  asked: JsonObject | null,
  answer: JsonValue,
  tank?: { left: number },
): RefusedAnswer[] {
  const scope = { inputs: {}, run: NO_RUN, steps: {}, ...asked, out: answer } as Scope;
  const refused: RefusedAnswer[] = [];
  for (const { name, that, level, message } of ensure) {
    if (level !== 'error') continue;
    if (asked === null && !that.paths.every((path) => path === 'out' || path.startsWith('out.'))) continue;
    try {
      if (evaluate(that, scope, tank) === true) continue;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (tank?.left === 0) break;
      refused.push({ name, message: error.message });
      continue;
    }
    refused.push({ name, message: message === null ? null : textOf(message, scope, tank) });
  }
  return refused;
}

const NO_RUN = { id: '', started_at: '', version_id: '' };

function textOf(
  message: NonNullable<AskStep['ensure'][number]['message']>,
  scope: Scope,
  tank?: { left: number },
): string | null {
  try {
    const text = evaluate(message, scope, tank);
    return typeof text === 'string' ? text : JSON.stringify(text);
  } catch {
    return null;
  }
}

/** The ask step at a path, such as `group/approve[2]`; null: there is none. `called`: finds a called method. */
export function askStepAt(
  method: CompiledMethod,
  path: string,
  called: (target: CallTarget) => CompiledMethod | null = () => null,
): AskStep | null {
  const names = path.split('/').map((part) => part.replace(/\[\d+\]$/, ''));
  const lists: Readonly<Record<string, readonly CompiledStep[]>> = {
    on_failure: method.onFailure,
    finally: method.finally,
  };
  const after = lists[names[0] ?? ''];
  return stepIn(method.steps, names, called) ?? (after === undefined ? null : stepIn(after, names.slice(1), called));
}

function stepIn(
  steps: readonly CompiledStep[],
  [name, ...rest]: readonly string[],
  called: (target: CallTarget) => CompiledMethod | null,
): AskStep | null {
  const step = steps.find((candidate) => candidate.name === name);
  if (step === undefined) return null;
  if (rest.length === 0) return step.kind === 'ask' ? step : null;
  if (step.kind === 'call') {
    const inner = called(step.target);
    return inner === null ? null : askStepAt(inner, rest.join('/'), called);
  }
  return step.kind === 'steps' || step.kind === 'parallel' ? stepIn(step.steps, rest, called) : null;
}

/** One sentence for the person who answers. */
export function refusalText({ name, message }: RefusedAnswer): string {
  return message === null ? name : `${name} (${message})`;
}

/** The scope a worker sent; null where it is not valid. */
export function scopeFromJson(json: string): JsonObject | null {
  if (json === '' || utf8Bytes(json) > SCOPE_BYTES_MAX) return null;
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
