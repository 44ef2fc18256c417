// The files among the inputs of a run, or of a method that it calls.
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { fileFields } from '@methods/method/typed-fields';
import { StepFailure } from '../step-failure.ts';

/** @throws StepFailure of kind input for a file that is not one of the run's. */
export function checkInputFiles(
  method: Pick<CompiledMethod, 'inputSchema'>,
  inputs: JsonObject,
  files: { has(value: JsonValue): boolean },
): void {
  for (const { file, path } of fileFields(method.inputSchema, inputs)) {
    if (!files.has(file))
      throw new StepFailure('input', `The input ${path.join('.').slice(0, 100)} is not a file of the run`);
  }
}
