// Owns a text form of JSON values that is equal exactly when the values are, for any order of keys.
import { isJsonList, isJsonObject, type JsonValue } from '../json.ts';
import type { Meter } from './effort.ts';

const CHARACTERS_A_STEP = 8;

/** The meter that is charged for writing a text. */
export type Payer = Pick<Meter, 'charge'>;

/** The value as JSON with sorted keys. Recurses with the value: bound its depth first. Charged before each part is written. */
export function canonicalText(value: JsonValue, meter: Payer): string {
  if (isJsonList(value)) {
    meter.charge(8 + 2 * value.length);
    return `[${value.map((item) => canonicalText(item, meter)).join(',')}]`;
  }
  if (!isJsonObject(value)) {
    meter.charge(8 + (typeof value === 'string' ? value.length / CHARACTERS_A_STEP : 0));
    return JSON.stringify(value);
  }
  const names = Object.keys(value);
  meter.charge(16 + names.length * (12 + 4 * Math.log2(names.length + 1)));
  names.sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null, meter)}`).join(',')}}`;
}
