// Owns the values of earlier answers: where each was last seen, and the fields steps must give out for others to read.
import { snakeName } from '../draft/names.ts';
import { isJsonList, type JsonValue } from '../json.ts';
import type { RecordingFinding } from './recording-finding.ts';

interface Leaf {
  readonly step: string;
  /** Below `response.body`, such as `.payment.charge_id` or `.items[0].id`. */
  readonly path: string;
  readonly value: string | number;
  readonly inList: boolean;
}

/** A field of a step's out. */
export interface TakenField {
  /** Below `response.body`. */
  readonly path: string;
  readonly type: string;
}

/** `text`: inserted into an address. `secret`: a whole value that must not be stored. */
export type ValueUse = 'value' | 'text' | 'secret';

const VALUE_CHARACTERS_MIN = 4;
const VALUE_CHARACTERS_MAX = 4_096;
const LEAVES_A_STEP_MAX = 5_000;
const LEAVES_MAX = 200_000;
const FIELD = /^[A-Za-z_]\w{0,63}$/;

export class AnswerBook {
  readonly #leaves = new Map<string, Leaf>();
  readonly #taken = new Map<string, Map<string, TakenField>>();

  /** Remembers the answers of a step that has run. */
  add(step: string, answers: readonly JsonValue[]): void {
    let budget = LEAVES_A_STEP_MAX;
    const visit = (value: JsonValue, path: string, inList: boolean): void => {
      if (budget <= 0 || this.#leaves.size >= LEAVES_MAX) return;
      if (typeof value === 'string' || typeof value === 'number') {
        budget--;
        this.#addLeaf({ step, path, value, inList });
      } else if (isJsonList(value)) for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`, true);
      else if (value !== null && typeof value === 'object') {
        for (const [name, item] of Object.entries(value)) {
          if (FIELD.test(name) && name !== '__proto__') visit(item, `${path}.${name}`, inList);
        }
      }
    };
    for (const answer of answers) visit(answer, '', false);
  }

  /** Later answers are nearer; but a place in a list is only a guess, and the shortest path of one answer the likeliest. */
  #addLeaf(leaf: Leaf): void {
    const text = String(leaf.value);
    if (text.length < VALUE_CHARACTERS_MIN || text.length > VALUE_CHARACTERS_MAX || leaf.path === '') return;
    const known = this.#leaves.get(text);
    const worse =
      known && ((leaf.inList && !known.inList) || (known.step === leaf.step && known.path.length <= leaf.path.length));
    if (!worse) this.#leaves.set(text, leaf);
  }

  has(value: string): boolean {
    return this.#leaves.has(value);
  }

  /** The expression that reads the value, such as `steps.order.charge_id`; undefined when no answer held it. */
  find(value: string, use: ValueUse, place: string, findings: RecordingFinding[]): string | undefined {
    const leaf = this.#leaves.get(value);
    if (!leaf) return undefined;
    const field = this.#field(leaf, use);
    if (field === undefined) return undefined;
    if (leaf.inList) {
      findings.push({
        code: 'first_of_list',
        message: `${leaf.step} answers a list; the draft takes its entry${leaf.path} as recorded: choose the right one`,
        place,
      });
    }
    return `steps.${leaf.step}.${field}`;
  }

  #field(leaf: Leaf, use: ValueUse): string | undefined {
    const fields = this.#taken.get(leaf.step) ?? new Map<string, TakenField>();
    this.#taken.set(leaf.step, fields);
    const parts = leaf.path.match(/\w+/g) ?? [];
    const type =
      use === 'secret'
        ? 'secret'
        : typeof leaf.value === 'string'
          ? 'string'
          : Number.isInteger(leaf.value)
            ? 'integer'
            : 'number';
    for (let count = 1; count <= parts.length + 1; count++) {
      const last = parts.filter((part) => !/^\d+$/.test(part)).slice(-count);
      const name =
        count > parts.length
          ? `${snakeName(parts.join('_'), 'field')}_${fields.size}`
          : snakeName(last.join('_'), 'field');
      const known = fields.get(name);
      if (known && known.path !== leaf.path) continue;
      if (!known) fields.set(name, { path: leaf.path, type });
      // A secret cannot be part of a text; one that already is part of an address stays readable.
      return known?.type === 'secret' && use === 'text' ? undefined : name;
    }
    return undefined;
  }

  /** The fields that others read of a step; undefined when there are none. */
  taken(step: string): ReadonlyMap<string, TakenField> | undefined {
    return this.#taken.get(step);
  }
}
