// Converts the values of a shell step to environment variables.
import type { JsonValue } from '@methods/method/json';
import { isFileShaped } from '../files/file-value.ts';
import { StepFailure } from '../step-failure.ts';

/** Longer values exist only in the file `$STEP_IN`. */
const VARIABLE_BYTES_MAX = 64 * 1024;
/** For all together; the system refuses to start a process with much more. */
const VARIABLES_BYTES_MAX = 1024 * 1024;

/**
 * `files`: the paths under which the worker provides files. Text is kept, files become their path, null becomes empty,
 * other values become JSON. Throws a StepFailure of kind input.
 */
export function shellVariables(
  names: readonly string[],
  values: readonly JsonValue[],
  files: ReadonlySet<string>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  let bytesTotal = 0;
  for (const [i, name] of names.entries()) {
    const text = variableText(values[i] ?? null, files);
    if (text.includes('\0')) {
      throw new StepFailure(
        'input',
        `The value of ${name} contains a NUL character, which an environment variable cannot hold`,
      );
    }
    const bytes = Buffer.byteLength(text);
    if (bytes > VARIABLE_BYTES_MAX || bytesTotal + bytes > VARIABLES_BYTES_MAX) continue;
    bytesTotal += bytes;
    variables[name] = text;
  }
  return variables;
}

function variableText(value: JsonValue, files: ReadonlySet<string>): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (isFileShaped(value) && files.has(value.path)) return value.path;
  return JSON.stringify(value);
}
