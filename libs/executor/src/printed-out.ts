// Converts text to typed fields: a step's prints as a field of its out, and the out of a shell step, whose values are
// all text.
import type { CodeStep } from '@methods/method/compiled-method';
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';
import { StepFailure } from './step-failure.ts';

/** `returned` with the printed text as the field; without its last line breaks, as in a shell's `$(…)`. */
export function printedOut(
  step: CodeStep,
  stdout: NonNullable<CodeStep['stdout']>,
  returned: JsonValue | undefined,
  printed: Buffer,
): { readonly returned: JsonValue | undefined; readonly failure: StepFailure | null } {
  const { outputBytesMax } = step.limits;
  if (printed.length > outputBytesMax) {
    const message = `The step printed more than ${outputBytesMax / 1024} KiB (limits: output_kb); use a file`;
    return { returned: undefined, failure: new StepFailure('limit', message) };
  }
  const text = printed.toString('utf8').replace(/[\r\n]+$/, '');
  let value: JsonValue = text;
  if (stdout.as === 'json') {
    try {
      value = JSON.parse(text) as JsonValue;
    } catch {
      const message = `What the step printed is not JSON, as the field ${stdout.field} needs`;
      return { returned: undefined, failure: new StepFailure('out', message) };
    }
  }
  // A value that is not an object fails as it would without `stdout`.
  if (returned !== undefined && returned !== null && !isJsonObject(returned)) return { returned, failure: null };
  return { returned: { ...returned, [stdout.field]: value }, failure: null };
}

/** `step out count 3` says "3": fields that are not text are read as JSON, and stay text when they are not JSON. */
export function typedOut(step: CodeStep, returned: JsonValue | undefined): JsonValue | undefined {
  if (returned === undefined || !isJsonObject(returned) || step.out === null) return returned;
  const { schema } = step.out;
  const properties = ownField(schema, 'properties');
  const typed = Object.entries(returned).map(([name, value]): [string, JsonValue] => {
    if (typeof value !== 'string') return [name, value];
    const field = isJsonObject(properties) ? ownField(properties, name) : undefined;
    if (!isJsonObject(field) || takesText(field, schema)) return [name, value];
    try {
      return [name, JSON.parse(value) as JsonValue];
    } catch {
      return [name, value];
    }
  });
  return Object.fromEntries(typed);
}

/** True when the field may hold a text; JSON in a text is then not parsed. */
function takesText(field: JsonSchema, root: JsonSchema): boolean {
  const { $ref, type, anyOf, enum: choices } = field;
  if (typeof $ref === 'string') {
    const shared = ownField(root, '$defs');
    const target = isJsonObject(shared) ? ownField(shared, $ref.replace('#/$defs/', '')) : undefined;
    return !isJsonObject(target) || takesText(target, {});
  }
  if (isJsonList(choices)) return choices.some((it) => typeof it === 'string');
  if (isJsonList(anyOf)) return anyOf.some((it) => isJsonObject(it) && takesText(it, root));
  if (type === undefined) return true;
  return isJsonList(type) ? type.includes('string') : type === 'string';
}
