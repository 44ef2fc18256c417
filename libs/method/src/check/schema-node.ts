// Owns schemas made ready for checks: each part is read once, at its first use, and its references are followed.

import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';
import { utf8Bytes } from '../utf8-bytes.ts';
import { combiningRules } from './combining-rules.ts';
import { canonicalText } from './distinct-values.ts';
import type { Meter } from './effort.ts';
import { listRules, unevaluatedItemsRule } from './list-rules.ts';
import { objectRules, unevaluatedFieldsRule } from './object-rules.ts';
import { numberRules, textRules, valueRules } from './scalar-rules.ts';
import type { Check } from './value-check-run.ts';

/** Kinds of JSON values, as bits. A whole number is both a number and an integer. */
export const KIND = { null: 1, boolean: 2, number: 4, integer: 8, string: 16, array: 32, object: 64 } as const;

/** True when the value keeps the rule. Reports the finding to the check, which may ignore it. */
export type Rule = (value: never, check: Check) => boolean;

export interface Rules {
  /** By the kind of value. */
  readonly text: readonly Rule[];
  readonly number: readonly Rule[];
  readonly list: readonly Rule[];
  readonly object: readonly Rule[];
  readonly scalar: readonly Rule[];
  /** Has `unevaluatedItems` or `unevaluatedProperties`. */
  readonly tracks: boolean;
}

interface Fallback {
  readonly name: string;
  readonly value: JsonValue;
  /** Bytes of `"name":value,`. */
  readonly bytes: number;
}

/** The rules of a schema for its objects or lists: for defaults and projection, which ignore other keywords. */
interface Ruling {
  readonly items: SchemaNode | null;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
  /** Rules undeclared fields; false: there are none. */
  readonly others: SchemaNode | null | false;
  readonly fallbacks: readonly Fallback[];
}

const HOPS_MAX = 100;

export class SchemaNode {
  readonly #book: SchemaBook;
  readonly schema: JsonValue;
  #rules: Rules | undefined;
  readonly #rulings = new Map<'array' | 'object', Ruling | null>();
  /** Bits of `KIND` that `type` allows; 0: all. */
  readonly types: number;

  constructor(book: SchemaBook, schema: JsonValue) {
    this.#book = book;
    this.schema = schema;
    this.types = isJsonObject(schema) ? typesOf(ownField(schema, 'type')) : 0;
  }

  /** Read at the first use, which pays for it. */
  rules(meter: Meter): Rules {
    this.#rules ??= rulesOf(this.schema, this.#book, meter);
    return this.#rules;
  }

  /** Of the schema itself, or of its one `anyOf` branch for lists, or for objects; null: none or several. */
  ruling(kind: 'array' | 'object', meter: Meter): Ruling | null {
    const known = this.#rulings.get(kind);
    if (known !== undefined) return known;
    const found = [...this.#rulers(kind, meter, new Set())];
    const [only] = found;
    const ruling = found.length === 1 && only !== undefined ? rulingOf(only, this.#book, meter) : null;
    this.#rulings.set(kind, ruling);
    return ruling;
  }

  /** Each schema is visited once, so one that refers to itself ends. */
  #rulers(kind: 'array' | 'object', meter: Meter, visited: Set<JsonValue>, inside = false): Set<JsonObject> {
    const found = new Set<JsonObject>();
    const resolved = this.#book.dereference(this.schema);
    if (resolved === null || visited.has(resolved)) return found;
    visited.add(resolved);
    meter.charge(20);
    const branches = ownField(resolved, 'anyOf');
    if (!isJsonList(branches)) {
      const types = typesOf(ownField(resolved, 'type'));
      if (!inside || (types & KIND[kind]) !== 0) found.add(resolved);
      return found;
    }
    for (const branch of branches) {
      for (const ruler of this.#book.node(branch).#rulers(kind, meter, visited, true)) found.add(ruler);
      if (found.size > 1) break;
    }
    return found;
  }

  /** True when null is among the values, as far as the forms our types are written in say so. */
  allowsNull(): boolean {
    return this.#allowsNull(new Set());
  }

  #allowsNull(visited: Set<JsonValue>): boolean {
    const resolved = this.#book.dereference(this.schema);
    if (resolved === null) return true;
    if (visited.has(resolved)) return false;
    visited.add(resolved);
    const branches = ownField(resolved, 'anyOf');
    if (isJsonList(branches)) return branches.some((branch) => this.#book.node(branch).#allowsNull(visited));
    const values = ownField(resolved, 'enum');
    if (isJsonList(values)) return values.includes(null);
    const types = typesOf(ownField(resolved, 'type'));
    return types === 0 || (types & KIND.null) !== 0;
  }
}

/** The parts of one schema. */
export class SchemaBook {
  readonly root: SchemaNode;
  readonly #schema: JsonSchema;
  readonly #nodes = new Map<JsonValue, SchemaNode>();

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.root = this.node(schema);
  }

  node(schema: JsonValue): SchemaNode {
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    const made = new SchemaNode(this, schema);
    this.#nodes.set(schema, made);
    return made;
  }

  /** The target of a `$ref`; null: there is none. Schemas of ours refer into `$defs` only. */
  target(reference: JsonValue | undefined): SchemaNode | null {
    if (reference === '#') return this.root;
    const definitions = ownField(this.#schema, '$defs');
    if (typeof reference !== 'string' || !reference.startsWith('#/$defs/') || !isJsonObject(definitions)) return null;
    const found = ownField(definitions, reference.slice('#/$defs/'.length));
    return found === undefined ? null : this.node(found);
  }

  /** The schema after `$ref`s; null where there is none. */
  dereference(schema: JsonValue): JsonObject | null {
    let current: JsonValue | undefined = schema;
    for (let hops = 0; hops < HOPS_MAX && isJsonObject(current); hops++) {
      const reference = ownField(current, '$ref');
      if (reference === undefined) return current;
      current = this.target(reference)?.schema;
    }
    return null;
  }
}

function typesOf(type: JsonValue | undefined): number {
  const names = isJsonList(type) ? type : [type];
  let bits = 0;
  for (const name of names)
    if (typeof name === 'string' && Object.hasOwn(KIND, name)) bits |= KIND[name as keyof typeof KIND];
  return bits;
}

function rulingOf(schema: JsonObject, book: SchemaBook, meter: Meter): Ruling {
  const nodeAt = (value: JsonValue | undefined) => (isJsonObject(value) ? book.node(value) : null);
  const declared = ownField(schema, 'properties');
  const required = ownField(schema, 'required');
  const others = ownField(schema, 'additionalProperties');
  const properties = new Map<string, SchemaNode>();
  const fallbacks: Fallback[] = [];
  for (const [name, property] of isJsonObject(declared) ? Object.entries(declared) : []) {
    meter.charge(20);
    if (!isJsonObject(property)) continue;
    properties.set(name, book.node(property));
    const value = ownField(property, 'default');
    if (value === undefined) continue;
    const bytes = utf8Bytes(canonicalText(value, meter)) + utf8Bytes(JSON.stringify(name)) + 2;
    fallbacks.push({ name, value, bytes });
  }
  return {
    items: nodeAt(ownField(schema, 'items')),
    properties,
    required: new Set(isJsonList(required) ? required.filter((name) => typeof name === 'string') : []),
    others: others === false ? false : nodeAt(others),
    fallbacks,
  };
}

// The turn of a schema into its rules, sorted by the kinds of values they judge.

const STEPS_A_KEYWORD = 20;
const STEPS_AN_ENTRY = 16;

const NEVER: Rule = (_, check) => check.miss({ code: 'not', message: 'must NOT be valid' });
const NONE = { text: [], number: [], list: [], object: [], scalar: [], tracks: false };
const REFUSED = { text: [NEVER], number: [NEVER], list: [NEVER], object: [NEVER], scalar: [NEVER], tracks: false };

/** An invalid schema allows nothing, as `false` does. */
function rulesOf(schema: JsonValue, book: SchemaBook, meter: Meter): Rules {
  if (schema === true) return NONE;
  if (!isJsonObject(schema)) return REFUSED;
  for (const value of Object.values(schema)) meter.charge(STEPS_A_KEYWORD + STEPS_AN_ENTRY * sizeOf(value));
  const every = [...valueRules(schema, meter), ...combiningRules(schema, book)];
  const unevaluatedItems = unevaluatedItemsRule(schema, book);
  const unevaluatedFields = unevaluatedFieldsRule(schema, book);
  return {
    scalar: every,
    text: [...textRules(schema), ...every],
    number: [...numberRules(schema), ...every],
    // Last: it asks what all the others have looked at.
    list: [...listRules(schema, book), ...every, ...unevaluatedItems],
    object: [...objectRules(schema, book), ...every, ...unevaluatedFields],
    tracks: unevaluatedItems.length + unevaluatedFields.length > 0,
  };
}

function sizeOf(value: JsonValue): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
