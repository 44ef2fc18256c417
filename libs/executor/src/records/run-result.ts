// Evaluates a method's `result` once all steps are through.
import type { CompiledMethod } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import { type JsonObject, objectOf } from '@methods/method/json';
import { loneSurrogateIn } from '@methods/method/lone-surrogates';
import type { RunError } from '../run-outcome.ts';
import type { Mask } from '../secrets/mask.ts';
import { asFailure } from './failures.ts';

const RESULT_BYTES_MAX = 1024 * 1024;

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
