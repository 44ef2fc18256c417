// Owns the walk of one check: a schema applied to a value, with work counted and findings collected or only counted.
import { isJsonList, type JsonValue } from '../json.ts';
import { CANDIDATES_MAX } from '../source/did-you-mean.ts';
import { Meter, tooCostly } from './effort.ts';
import type { FindingSink, MissedRule } from './finding-sink.ts';
import { KIND, type Rule, type Rules, type SchemaNode } from './schema-node.ts';

const STEPS_A_FINDING = 80;
const STEPS_A_PATH_PART = 10;
const STEPS_A_CANDIDATE = 20;

export class Check {
  /** Parts of the value that schemas at this place have looked at; null: no `unevaluated…` asks. */
  evaluated: Evaluated | null = null;
  readonly #path: (string | number)[] = [];
  #level = 0;

  /** Without a sink the check only says whether the value fits, and ends at the first miss. */
  constructor(
    readonly meter: Meter,
    public sink: FindingSink | null,
  ) {}

  /** Throws `EffortExhausted`. */
  fits(node: SchemaNode, value: JsonValue): boolean {
    this.meter.charge(4);
    const kind = kindOf(value);
    if (node.types !== 0 && (node.types & kind) === 0) return this.miss({ code: 'type', types: node.types });
    if (++this.#level > Meter.LEVELS_MAX) throw tooCostly();
    const rules = node.rules(this.meter);
    const fits = rules.tracks ? this.#tracked(rules, value, kind) : this.#keeps(rulesFor(rules, kind), value);
    this.#level--;
    return fits;
  }

  /** The same for a part of the value. */
  fitsBelow(node: SchemaNode, value: JsonValue, at: string | number): boolean {
    const outer = this.evaluated;
    this.evaluated = null;
    if (this.sink !== null) this.#path.push(at);
    const fits = this.fits(node, value);
    if (this.sink !== null) this.#path.pop();
    this.evaluated = outer;
    return fits;
  }

  /** Whether the value fits, without findings; what was looked at counts only where it does. */
  tries(node: SchemaNode, value: JsonValue): boolean {
    const { sink, evaluated } = this;
    this.sink = null;
    this.evaluated = evaluated === null ? null : new Evaluated();
    const fits = this.fits(node, value);
    if (fits) this.#merge(this.evaluated, evaluated);
    this.sink = sink;
    this.evaluated = evaluated;
    return fits;
  }

  /** The findings of `branches`, collected apart, when all of them were missed. */
  foundBy(branches: readonly SchemaNode[], value: JsonValue): FindingSink | null {
    const { sink, evaluated } = this;
    if (sink === null) return null;
    const apart = sink.apart();
    this.sink = apart;
    this.evaluated = null;
    for (const branch of branches) {
      if (apart.full) break;
      this.fits(branch, value);
    }
    this.sink = sink;
    this.evaluated = evaluated;
    return apart;
  }

  /** False, and noted with its place; `below` names a field of the value. */
  miss(rule: MissedRule, below?: string): false {
    if (this.sink === null || this.sink.full) return false;
    this.meter.charge(STEPS_A_FINDING + this.#path.length * STEPS_A_PATH_PART);
    if ('names' in rule) this.meter.charge(Math.min(rule.names.length, CANDIDATES_MAX) * STEPS_A_CANDIDATE);
    this.sink.add(rule, below === undefined ? this.#path : [...this.#path, below]);
    return false;
  }

  get path(): readonly (string | number)[] {
    return this.#path;
  }

  /** True when nothing more is to be found. */
  get done(): boolean {
    return this.sink === null || this.sink.full;
  }

  #merge(from: Evaluated | null, into: Evaluated | null): void {
    if (from === null || into === null) return;
    this.meter.charge(from.items.size + from.fields.size);
    into.add(from);
  }

  #keeps(rules: readonly Rule[], value: JsonValue): boolean {
    let keeps = true;
    for (const rule of rules) {
      if (rule(value as never, this)) continue;
      keeps = false;
      if (this.done) break;
    }
    return keeps;
  }

  #tracked(rules: Rules, value: JsonValue, kind: number): boolean {
    const outer = this.evaluated;
    const own = new Evaluated();
    this.evaluated = own;
    const keeps = this.#keeps(rulesFor(rules, kind), value);
    this.evaluated = outer;
    if (keeps) this.#merge(own, outer);
    return keeps;
  }
}

function rulesFor(rules: Rules, kind: number): readonly Rule[] {
  if ((kind & KIND.object) !== 0) return rules.object;
  if ((kind & KIND.string) !== 0) return rules.text;
  if ((kind & KIND.array) !== 0) return rules.list;
  return (kind & (KIND.null | KIND.boolean)) === 0 ? rules.number : rules.scalar;
}

function kindOf(value: JsonValue): number {
  switch (typeof value) {
    case 'string':
      return KIND.string;
    case 'number':
      // JSON such as 1e999 is read as an infinity, which is no number of JSON.
      return Number.isInteger(value) ? KIND.number | KIND.integer : Number.isFinite(value) ? KIND.number : 0;
    case 'boolean':
      return KIND.boolean;
    default:
      return value === null ? KIND.null : isJsonList(value) ? KIND.array : KIND.object;
  }
}

/**
 * Which fields and items the schemas at one place have looked at: what `unevaluatedProperties` and
 * `unevaluatedItems` skip.
 */
class Evaluated {
  /** Items before this index. */
  itemsBefore = 0;
  readonly items = new Set<number>();
  readonly fields = new Set<string>();

  add(other: Evaluated): void {
    this.itemsBefore = Math.max(this.itemsBefore, other.itemsBefore);
    for (const index of other.items) this.items.add(index);
    for (const name of other.fields) this.fields.add(name);
  }
}
