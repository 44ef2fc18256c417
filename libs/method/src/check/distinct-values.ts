// Owns a set of JSON values, compared by value and not by place: for `uniqueItems`, `enum` and `unique`.
import type { JsonValue } from '../json.ts';
import { canonicalText, type Payer } from './canonical-text.ts';

const STEPS_A_SCALAR = 6;
const CHARACTERS_A_STEP = 16;

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
