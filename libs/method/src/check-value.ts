// Owns checks of JSON values against a method's schemas: inputs with their defaults, answers, outs and results.
import { type Effort, EffortExhausted, FULL_EFFORT, Meter } from './check/effort.ts';
import { FindingSink, type ValueFinding } from './check/finding-sink.ts';
import { SchemaBook, type SchemaNode } from './check/schema-node.ts';
import { Check } from './check/value-check-run.ts';
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, nestsDeeperThan, objectOf } from './json.ts';

/** The projection of a returned value onto what a step declares: the rest is dropped and named. */
interface Projection {
  readonly value: JsonValue;
  /** Paths of dropped fields, such as `items[2].raw`; at most 100 of them. */
  readonly dropped: readonly string[];
}

const DROPPED_MAX = 100;
// Deeper parts are left as they are; the check that follows refuses them.
const SCHEMA_LEVELS_MAX = 100;

interface Walk {
  readonly meter: Meter;
  readonly dropped: string[];
}

// Linear in the value and the schema, and only for what a method's own step gave: nothing is refused here.
const UNBOUNDED = { stepsMax: Number.POSITIVE_INFINITY, addedBytesMax: 0 };

// Each step projects each of its outs with the same schema.
const books = new WeakMap<JsonSchema, SchemaBook>();

/**
 * Keeps only declared fields, at any depth. A null in an optional field that is not nullable counts as absent and goes too,
 * silently: absent is null in this language.
 */
export function projectOut(schema: JsonSchema, value: JsonValue): Projection {
  const book = books.get(schema) ?? new SchemaBook(schema);
  books.set(schema, book);
  const dropped: string[] = [];
  return { value: project(book.root, value, { meter: new Meter(UNBOUNDED), dropped }, '', 0), dropped };
}

function project(node: SchemaNode, value: JsonValue, walk: Walk, path: string, level: number): JsonValue {
  if (typeof value !== 'object' || value === null || level > SCHEMA_LEVELS_MAX) return value;
  const { meter, dropped } = walk;
  if (isJsonList(value)) {
    const items = node.ruling('array', meter)?.items;
    return items ? value.map((item, index) => project(items, item, walk, `${path}[${index}]`, level + 1)) : value;
  }
  const ruling = node.ruling('object', meter);
  if (ruling === null || !isJsonObject(value)) return value;
  const { properties, others, required } = ruling;
  const kept: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const property = properties.get(name);
    if (property === undefined && others === false) {
      if (dropped.length < DROPPED_MAX) dropped.push(at.slice(0, 200));
      continue;
    }
    if (item === null && property !== undefined && !required.has(name) && !property.allowsNull()) continue;
    const part = property ?? others;
    kept.push([name, part ? project(part, item, walk, at, level + 1) : item]);
  }
  return objectOf(kept);
}

export { type Effort, FULL_EFFORT, TURN_EFFORT } from './check/effort.ts';
export type { ValueFinding } from './check/finding-sink.ts';

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

// The filling of defaults, bounded while it happens: a few bytes given may ask for many times as much.

/**
 * A copy of `value` with the defaults of absent fields, sharing what did not change. Nothing is filled into a default.
 * Recurses with the value: bound its depth first. Throws `EffortExhausted`.
 */
function fillDefaults(node: SchemaNode, value: JsonValue, meter: Meter): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  meter.charge(2);
  if (isJsonList(value)) {
    const items = node.ruling('array', meter)?.items ?? null;
    if (items === null) return value;
    meter.charge(value.length);
    const filled = value.map((item) => fillDefaults(items, item, meter));
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }
  const ruling = node.ruling('object', meter);
  if (ruling === null || !isJsonObject(value)) return value;
  const { properties, others, fallbacks } = ruling;
  let entries: [string, JsonValue][] | null = null;
  const names = Object.keys(value);
  meter.charge(names.length + fallbacks.length);
  for (const [index, name] of names.entries()) {
    const item = value[name] ?? null;
    const part = properties.get(name) ?? others;
    const filled = part ? fillDefaults(part, item, meter) : item;
    if (filled === item) continue;
    entries ??= Object.entries(value);
    entries[index] = [name, filled];
  }
  for (const fallback of fallbacks) {
    if (Object.hasOwn(value, fallback.name)) continue;
    meter.chargeBytes(fallback.bytes);
    entries ??= Object.entries(value);
    entries.push([fallback.name, fallback.value]);
  }
  return entries === null ? value : objectOf(entries);
}
