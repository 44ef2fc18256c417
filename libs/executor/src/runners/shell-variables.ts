// The values of a shell step as environment variables.
import type { JsonValue } from '@methods/method/json';
import { isFileShaped } from '../files/file-value.ts';
import { StepFailure } from '../step-failure.ts';

/** Longer ones stand only in the file `$STEP_IN`. */
const VARIABLE_BYTES_MAX = 64 * 1024;
/** All together; the system refuses to start a process with much more. */
const VARIABLES_BYTES_MAX = 1024 * 1024;

/** `files`: the paths the worker has given it. Text as it is, files as their path, null as nothing, other values as JSON. Throws StepFailure of kind input. */
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
      throw new StepFailure('input', `The value of ${name} holds a NUL character, which no environment variable can`);
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
