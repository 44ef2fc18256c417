// Measures a run's inputs including the method's defaults, since they are sent, stored and granted in this form.
import type { ServiceError } from '@methods/errors/service-error';
import type { JsonValue } from '@methods/method/json';
import { tooLarge } from '../../plugins/error-reply.ts';

export const INPUTS_BYTES_MAX = 256 * 1024;

/**
 * Called before any other work, even a digest. Inputs are no larger than the body around them, so most are never
 * measured. @throws ServiceError too_large
 */
export function checkInputsSize(inputs: unknown, bodyBytes: number): void {
  if (bodyBytes > INPUTS_BYTES_MAX && inputs !== undefined) checkedInputsJson(JSON.stringify(inputs));
}

/** @throws ServiceError too_large */
export function inputsJsonOf(inputs: JsonValue): string {
  return checkedInputsJson(JSON.stringify(inputs));
}

/** @throws ServiceError too_large: runs of earlier releases may have larger inputs. */
export function checkedInputsJson(json: string): string {
  if (Buffer.byteLength(json) > INPUTS_BYTES_MAX) throw inputsTooLarge();
  return json;
}

export function inputsTooLarge(): ServiceError {
  const message = `The inputs have at most ${INPUTS_BYTES_MAX} bytes, with their defaults.`;
  return tooLarge('/inputs', 'inputs_bytes', message);
}
