// A check of one value with all the effort a value may have. Values travel as JSON: to clone as many small objects as
// fit into one takes ten times as long.
import { compileCheck, FULL_EFFORT, type ValueCheck } from '@methods/method/check-value';
import type { JsonSchema, JsonValue } from '@methods/method/json';

export interface ValueJob {
  readonly schema: JsonSchema;
  readonly valueJson: string;
  /** Bytes of JSON that defaults may add. */
  readonly addedBytesMax: number;
}

export type ValueReply = { readonly ok: true; readonly valueJson: string } | Extract<ValueCheck, { ok: false }>;

export function checkedFully({ schema, valueJson, addedBytesMax }: ValueJob): ValueReply {
  const check = compileCheck(schema)(JSON.parse(valueJson) as JsonValue, { ...FULL_EFFORT, addedBytesMax });
  return check.ok ? { ok: true, valueJson: JSON.stringify(check.value) } : check;
}
