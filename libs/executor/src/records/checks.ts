// Judges checks: all of a list are evaluated and recorded before the first failed one counts.
import type { CompiledCheck, CompiledStep } from '@methods/method/compiled-method';
import { cutText, wellFormed } from '@methods/method/cut-text';
import { ExpressionError, evaluate, type Scope } from '@methods/method/evaluate';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, objectOf, ownField } from '@methods/method/json';
import { wellFormedJson } from '@methods/method/lone-surrogates';
import type { CheckRecord } from '../run-outcome.ts';
import type { Mask } from '../secrets/mask.ts';
import { StepFailure } from '../step-failure.ts';

/** Longer values are replaced by their size: a record must not hold a whole list. */
const VALUE_CHARACTERS_MAX = 1000;
const VALUE_CHARACTERS_READ = 16_384;
const VALUES_MAX = 20;
const MESSAGE_CHARACTERS_MAX = 1000;

/**
 * `hidden`: names in the scope whose values contain undeclared secrets, such as the out of a login; they are not
 * stored.
 */
export function judge(
  checks: readonly CompiledCheck[],
  phase: CheckRecord['phase'],
  scope: Scope,
  mask: Mask,
  hidden: readonly string[] = [],
): CheckRecord[] {
  return checks.map((check) => {
    const values = wellFormedJson(valuesOf(check.that.paths, scope, mask, hidden)) as JsonObject;
    const { ok, message } = verdict(check, scope);
    const status = ok ? 'passed' : check.level === 'warn' ? 'warned' : 'failed';
    const text = message === null ? null : cutText(wellFormed(mask.text(message)), MESSAGE_CHARACTERS_MAX);
    return { name: check.name, phase, status, level: check.level, message: text, actual: null, values };
  });
}

/** A failed check outweighs every other failure of its step. */
export function failedCheck(checks: readonly CheckRecord[]): StepFailure | null {
  const failed = checks.find((check) => check.status === 'failed');
  if (failed === undefined) return null;
  return new StepFailure(
    'check',
    `Check failed: ${failed.name}${failed.message === null ? '' : ` (${failed.message})`}`,
  );
}

/** A check that cannot be evaluated did not pass. */
function verdict(check: CompiledCheck, scope: Scope): { ok: boolean; message: string | null } {
  try {
    const ok = evaluate(check.that, scope) === true;
    if (check.message === null) return { ok, message: null };
    const message = evaluate(check.message, scope);
    return { ok, message: typeof message === 'string' ? message : JSON.stringify(message) };
  } catch (error) {
    return { ok: false, message: asFailure(error).message };
  }
}

function valuesOf(paths: readonly string[], scope: Scope, mask: Mask, hidden: readonly string[]): JsonObject {
  const values: [string, JsonValue][] = [];
  for (const path of paths) {
    const names = path.split('.');
    if (hidden.includes(names[0] ?? '') || values.length === VALUES_MAX) continue;
    values.push([path, shortened(read(scope, names), mask)]);
  }
  return objectOf(values);
}

/** Steps of a path are fields, indexes and `length`. */
function read(scope: Scope, names: readonly string[]): JsonValue {
  const roots = scope as unknown as JsonObject;
  let value: JsonValue | undefined = ownField({ ...roots, ...scope.items }, names[0] ?? '');
  for (const name of names.slice(1)) {
    if (name === 'length' && (typeof value === 'string' || isJsonList(value))) value = value.length;
    else if (isJsonList(value)) value = value[Number(name)];
    else value = isJsonObject(value) ? ownField(value, name) : undefined;
  }
  return value ?? null;
}

/** Masked before it is cut: otherwise the rest of a secret at the cut would not be found. */
function shortened(value: JsonValue, mask: Mask): JsonValue {
  if (typeof value === 'string') {
    if (value.length <= VALUE_CHARACTERS_MAX) return mask.text(value);
    // As a stream that does not end, so that no part of a secret is shown at its end.
    const masked = mask.stream().push(value.slice(0, VALUE_CHARACTERS_READ));
    return `${cutText(masked, VALUE_CHARACTERS_MAX)}…`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonList(value) && value.length > VALUE_CHARACTERS_MAX) return `(a list of ${value.length})`;
  if (JSON.stringify(value).length <= VALUE_CHARACTERS_MAX) return mask.json(value);
  return isJsonList(value) ? `(a list of ${value.length})` : `(an object of ${Object.keys(value).length} fields)`;
}

// Converts any error of a step to one of the language's kinds, with a message that is safe to store.

/** Any error as a step's failure, with the step's line where the error names none. */
export function failureOf(error: unknown, step: CompiledStep): StepFailure {
  const failure = asFailure(error);
  return new StepFailure(failure.kind, failure.message, { line: step.line, ...failure.detail });
}

/** An error of no known kind is our own fault: its message could hold content, so it is not reported. */
export function asFailure(error: unknown): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof ExpressionError) return new StepFailure('expression', error.message);
  // The stack overflowed: a value nests too deep for a check or a text.
  if (error instanceof RangeError) return new StepFailure('limit', 'A value nests too deep or is too large');
  return new StepFailure('internal', 'The step could not be run');
}
