// Owns checks of JSON values against a method's schemas: inputs, answers, outs and results.
import { fillDefaults } from './check/fill-defaults.ts';
import { findingsOf, type ValueFinding } from './check/schema-findings.ts';
import { compileSchema } from './check/schema-validator.ts';
import { type JsonSchema, type JsonValue, nestsDeeperThan } from './json.ts';

export { projectOut } from './check/project-out.ts';
export type { ValueFinding } from './check/schema-findings.ts';

export type ValueCheck =
  | { readonly ok: true /** The value with defaults filled in. */; readonly value: JsonValue }
  | { readonly ok: false; readonly findings: readonly ValueFinding[] };

// Generated checks and our own walks recurse with the value.
const LEVELS_MAX = 100;

/**
 * Compiles a schema into a check. Compiling costs milliseconds: keep the function. The check fills defaults into a copy,
 * runs patterns in linear time, never changes its argument and never throws on a JSON value; at most 20 findings.
 */
export function compileCheck(schema: JsonSchema): (value: JsonValue) => ValueCheck {
  const validate = compileSchema(schema);
  return (value) => {
    if (nestsDeeperThan(value, LEVELS_MAX)) return refusal('too_deep', `nests deeper than ${LEVELS_MAX} levels`);
    const filled = fillDefaults(schema, value);
    const { errors, exhausted } = validate(filled);
    if (exhausted) return refusal('too_long', 'the texts are too long for the patterns they must match');
    return errors.length === 0 ? { ok: true, value: filled } : { ok: false, findings: findingsOf(errors) };
  };
}

function refusal(code: string, message: string): ValueCheck {
  return { ok: false, findings: [{ path: '', code, message }] };
}
