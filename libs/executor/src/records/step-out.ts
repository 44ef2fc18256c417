// Turns the value of an action into a step's out, and evaluates a method's `result`: only declared fields, checked,
// bounded, and free of secrets.
import { projectOut } from '@methods/method/check-value';
import type { CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import { wellFormed } from '@methods/method/cut-text';
import { evaluate, type Scope } from '@methods/method/evaluate';
import { type JsonObject, type JsonSchema, type JsonValue, objectOf } from '@methods/method/json';
import { loneSurrogateIn } from '@methods/method/lone-surrogates';
import { fileFields, secretFields } from '@methods/method/typed-fields';
import type { RunFolder } from '../run-folder.ts';
import type { RunError } from '../run-outcome.ts';
import type { Mask } from '../secrets/mask.ts';
import type { RunMask } from '../secrets/run-mask.ts';
import { StepFailure } from '../step-failure.ts';
import { asFailure } from './checks.ts';

export interface StepOut {
  /** The value that later steps see. */
  readonly value: JsonValue;
  /** The same as JSON text. */
  readonly json: string;
  readonly dropped: readonly string[];
}

const NO_FIELDS: JsonObject = {};
const DROPPED_MAX = 20;

/**
 * `returned`: undefined when the action returned nothing. Its secrets are masked from then on, and its files must be
 * the run's. Throws StepFailure of kind out, limit or secret.
 */
export function stepOut(
  step: CompiledStep,
  returned: JsonValue | undefined,
  mask: RunMask,
  files: Pick<RunFolder, 'has'>,
): StepOut {
  const { out } = step;
  if (out === null) return { value: NO_FIELDS, json: '{}', dropped: [] };
  const projected = projectOut(out.schema, returned === undefined || returned === null ? NO_FIELDS : returned);
  const dropped = projected.dropped.slice(0, DROPPED_MAX).map((name) => wellFormed(mask.text(name)));
  const checked = out.check(projected.value);
  if (!checked.ok) {
    const [finding] = checked.findings;
    const hint = dropped.length > 0 ? ` (returned, but not declared: ${dropped.join(', ')})` : '';
    throw new StepFailure('out', `out does not match: ${finding?.path || '/'} ${finding?.message ?? ''}${hint}`);
  }
  if (out.hasFile) checkFiles(out.schema, checked.value, files);
  const bounded = boundedOut(step, checked.value, mask);
  if (out.hasSecret) {
    for (const { text, path } of secretFields(out.schema, bounded.value)) {
      mask.learn(`${step.name}.${path.join('.')}`, text);
    }
  }
  return { ...bounded, dropped };
}

/** @throws StepFailure of kind out for a file that the worker did not make. */
export function checkFiles(schema: JsonSchema, value: JsonValue, files: Pick<RunFolder, 'has'>): void {
  for (const { file, path } of fileFields(schema, value)) {
    if (files.has(file)) continue;
    const place = path.join('.').slice(0, 100);
    throw new StepFailure(
      'out',
      `${place} is not a file of the run: files come from step.file(), response.file or inputs`,
    );
  }
}

/** A value within the step's limit and without a secret. Throws StepFailure of kind limit or secret. */
export function boundedOut(step: CompiledStep, value: JsonValue, mask: Mask): StepOut {
  const json = JSON.stringify(value);
  const { outputBytesMax } = step.limits;
  // A character is at most 3 bytes of UTF-8: most outs need no count.
  if (json.length * 3 > outputBytesMax && Buffer.byteLength(json) > outputBytesMax) {
    throw new StepFailure('limit', `out is larger than ${outputBytesMax / 1024} KiB (limits: output_kb); use a file`);
  }
  const half = loneSurrogateIn(value, json);
  if (half !== null) {
    throw new StepFailure(
      'out',
      `out holds half of a character at ${mask.text(half)} (a lone surrogate), which is not text`,
    );
  }
  if (step.out?.hasSecret !== true) {
    const secret = mask.finds(json);
    if (secret !== null) throw new StepFailure('secret', `out contains the secret ${secret}`);
  }
  return { value, json, dropped: [] };
}

const RESULT_BYTES_MAX = 1024 * 1024;

/** Evaluates a method's `result` once all steps are through. */
export function resultOf(method: CompiledMethod, scope: Scope, mask: Mask): { value: JsonObject } | RunError {
  let value: JsonObject;
  try {
    value = objectOf([...method.result].map(([name, entry]) => [name, evaluate(entry, scope)] as const));
  } catch (error) {
    const failure = asFailure(error);
    return { code: 'result_invalid', kind: failure.kind, message: mask.text(failure.message) };
  }
  const json = JSON.stringify(value);
  if (json.length * 3 > RESULT_BYTES_MAX && Buffer.byteLength(json) > RESULT_BYTES_MAX) {
    return { code: 'result_invalid', kind: 'limit', message: 'The result is larger than 1 MiB; use a file' };
  }
  const half = loneSurrogateIn(value, json);
  if (half !== null) {
    const message = `The result holds half of a character at ${mask.text(half)} (a lone surrogate), which is not text`;
    return { code: 'result_invalid', kind: 'out', message };
  }
  const secret = mask.finds(json);
  if (secret !== null) {
    return { code: 'result_invalid', kind: 'secret', message: `The result contains the secret ${secret}` };
  }
  return { value };
}
