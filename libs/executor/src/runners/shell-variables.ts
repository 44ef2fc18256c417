// The values of a shell step as environment variables.
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';

/** Longer ones stand only in the file `$STEP_IN`. */
const VARIABLE_BYTES_MAX = 64 * 1024;
/** All together; the system refuses to start a process with much more. */
const VARIABLES_BYTES_MAX = 1024 * 1024;

/** Text as it is, files as their path, null as nothing, other values as JSON. Throws StepFailure of kind input. */
export function shellVariables(names: readonly string[], values: readonly JsonValue[]): Record<string, string> {
  const variables: Record<string, string> = {};
  let bytesTotal = 0;
  for (const [i, name] of names.entries()) {
    const text = variableText(values[i] ?? null);
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

function variableText(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (isJsonObject(value) && typeof value.path === 'string' && typeof value.sha256 === 'string') return value.path;
  return JSON.stringify(value);
}
