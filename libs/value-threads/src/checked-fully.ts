// A check of one value with all the effort a value may have.
import { compileCheck, FULL_EFFORT, type ValueCheck } from '@methods/method/check-value';
import type { JsonSchema, JsonValue } from '@methods/method/json';

export interface ValueJob {
  readonly schema: JsonSchema;
  readonly value: JsonValue;
  /** Bytes of JSON that defaults may add. */
  readonly addedBytesMax: number;
}

export function checkedFully({ schema, value, addedBytesMax }: ValueJob): ValueCheck {
  return compileCheck(schema)(value, { ...FULL_EFFORT, addedBytesMax });
}
