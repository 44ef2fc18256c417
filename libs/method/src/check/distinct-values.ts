// Owns a set of JSON values, compared by value and not by place: for `uniqueItems`, `enum` and `unique`.
import { isJsonList, isJsonObject, type JsonValue } from '../json.ts';
import type { Meter } from './effort.ts';

const STEPS_A_SCALAR = 6;
const CHARACTERS_A_STEP = 16;
const WRITTEN_CHARACTERS_A_STEP = 8;

/** The meter that is charged for writing a text. */
type Payer = Pick<Meter, 'charge'>;

export class DistinctValues {
  readonly #scalars = new Set<JsonValue>();
  readonly #texts = new Set<string>();

  /** False where an equal one is there already. */
  add(value: JsonValue, payer: Payer): boolean {
    if (typeof value !== 'object' || value === null) {
      payer.charge(costOf(value));
      return this.#scalars.size !== this.#scalars.add(value).size;
    }
    return this.#texts.size !== this.#texts.add(canonicalText(value, payer)).size;
  }

  has(value: JsonValue, payer: Payer): boolean {
    if (typeof value !== 'object' || value === null) {
      payer.charge(costOf(value));
      return this.#scalars.has(value);
    }
    return this.#texts.size > 0 && this.#texts.has(canonicalText(value, payer));
  }
}

function costOf(value: JsonValue): number {
  return STEPS_A_SCALAR + (typeof value === 'string' ? value.length / CHARACTERS_A_STEP : 0);
}

/**
 * The value as JSON with sorted keys: equal exactly when the values are. Recurses with the value: bound its depth first.
 * Charged before each part is written.
 */
export function canonicalText(value: JsonValue, meter: Payer): string {
  if (isJsonList(value)) {
    meter.charge(8 + 2 * value.length);
    return `[${value.map((item) => canonicalText(item, meter)).join(',')}]`;
  }
  if (!isJsonObject(value)) {
    meter.charge(8 + (typeof value === 'string' ? value.length / WRITTEN_CHARACTERS_A_STEP : 0));
    return JSON.stringify(value);
  }
  const names = Object.keys(value);
  meter.charge(16 + names.length * (12 + 4 * Math.log2(names.length + 1)));
  names.sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null, meter)}`).join(',')}}`;
}
