// Owns checks of JSON values against a method's schemas: inputs, answers, outs and results.
import { type Effort, EffortExhausted, FULL_EFFORT, Meter } from './check/effort.ts';
import { fillDefaults } from './check/fill-defaults.ts';
import { FindingSink, type ValueFinding } from './check/finding-sink.ts';
import { SchemaBook } from './check/schema-node.ts';
import { Check } from './check/value-check-run.ts';
import { type JsonSchema, type JsonValue, nestsDeeperThan } from './json.ts';

export { type Effort, FULL_EFFORT, TURN_EFFORT } from './check/effort.ts';
export type { ValueFinding } from './check/finding-sink.ts';
export { projectOut } from './check/project-out.ts';

export type ValueCheck =
  | { readonly ok: true /** The value with defaults filled in. */; readonly value: JsonValue }
  | {
      readonly ok: false;
      /** `too_costly`: the effort ended before it was known whether the value fits. `too_large`: with its defaults. */
      readonly reason: 'unfit' | 'too_costly' | 'too_large';
      readonly findings: readonly ValueFinding[];
    };

export type CheckValue = (value: JsonValue, effort?: Effort) => ValueCheck;

// Our own walks recurse with the value.
const LEVELS_MAX = 100;

/**
 * Makes a schema into a check. Keep the function: its parts are read at their first use. The check fills defaults into
 * a copy, runs patterns in linear time, never changes its argument and never throws on a JSON value; at most 20
 * findings. Its work is counted and ends with the effort, for any schema.
 */
export function compileCheck(schema: JsonSchema): CheckValue {
  const book = new SchemaBook(schema);
  return (value, effort = FULL_EFFORT) => {
    if (nestsDeeperThan(value, LEVELS_MAX))
      return refusal('unfit', 'too_deep', `nests deeper than ${LEVELS_MAX} levels`);
    try {
      const meter = new Meter(effort);
      const filled = fillDefaults(book.root, value, meter);
      if (new Check(meter, null).fits(book.root, filled)) return { ok: true, value: filled };
      return { ok: false, reason: 'unfit', findings: findingsOf(book, filled, effort) };
    } catch (error) {
      if (!(error instanceof EffortExhausted)) throw error;
      const reason = error.code === 'too_large' ? 'too_large' : 'too_costly';
      return refusal(reason, error.code, error.message);
    }
  };
}

/** The findings for a value that is known not to fit: as many as half the effort finds. */
function findingsOf({ root }: SchemaBook, value: JsonValue, effort: Effort): readonly ValueFinding[] {
  const sink = new FindingSink();
  try {
    new Check(new Meter({ ...effort, stepsMax: effort.stepsMax / 2 }), sink).fits(root, value);
  } catch (error) {
    if (!(error instanceof EffortExhausted)) throw error;
  }
  if (sink.findings.length > 0) return sink.findings;
  return [{ path: '', code: 'unfit', message: 'does not fit' }];
}

function refusal(reason: 'unfit' | 'too_costly' | 'too_large', code: string, message: string): ValueCheck {
  return { ok: false, reason, findings: [{ path: '', code, message }] };
}
