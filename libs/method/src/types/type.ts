// Owns what a type is, and its properties: its members, whether it can be null, how it is written.
import type { Pattern } from './pattern.ts';

export type ScalarValue = string | number | boolean | null;

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** The bound itself is outside (numbers only). */
  readonly minExclusive?: boolean;
  readonly maxExclusive?: boolean;
}

export type Type =
  | { readonly kind: 'any' | 'null' | 'boolean' | 'file' | 'secret' | 'open' }
  | { readonly kind: 'number' | 'integer'; readonly bounds: Bounds }
  | {
      readonly kind: 'string';
      readonly format?: string;
      readonly bounds: Bounds;
      readonly pattern?: Pattern;
      readonly textarea?: boolean;
    }
  | { readonly kind: 'choice'; readonly values: readonly ScalarValue[] }
  | { readonly kind: 'list' | 'map'; readonly of: Type; readonly bounds: Bounds }
  | ObjectType
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'named'; readonly name: string; readonly definition: { type: Type } }
  /** Raw JSON Schema, its local references already replaced. Statically anything. */
  | { readonly kind: 'raw'; readonly schema: { readonly [keyword: string]: unknown } };

/** A closed object: only these fields. (`open` is an object with any fields.) */
export interface ObjectType {
  readonly kind: 'object';
  readonly fields: ReadonlyMap<string, Field>;
  /** Fields are still added (`steps`, while a method is read): answers about it must not be kept. */
  readonly growing?: true;
}

export interface Field {
  readonly type: Type;
  /** May be absent from a finished value. A field with a default may be left out by the giver but is always present. */
  readonly optional: boolean;
  readonly default?: unknown;
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** Conditions that, known true together, make an otherwise optional field present (a step's `if`). */
  readonly guards?: readonly string[];
}

export const ANY: Type = { kind: 'any' };
export const NULL: Type = { kind: 'null' };
export const BOOLEAN: Type = { kind: 'boolean' };
export const NUMBER: Type = { kind: 'number', bounds: {} };
export const INTEGER: Type = { kind: 'integer', bounds: {} };
export const STRING: Type = { kind: 'string', bounds: {} };
export const FILE: Type = { kind: 'file' };
export const SECRET: Type = { kind: 'secret' };

/** Words of the string formats and the JSON Schema format of each. */
export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['datetime', 'date-time'],
  ['time', 'time'],
  ['email', 'email'],
  ['url', 'uri'],
  ['uuid', 'uuid'],
]);

export function listOf(of: Type): Type {
  return { kind: 'list', of, bounds: {} };
}

type Resolved = Exclude<Type, { kind: 'named' }>;
type Member = Exclude<Type, { kind: 'named' | 'union' }>;

// A method has at most 100 named types. The bound only matters while a circle (M312) is not yet found and cut.
const HOPS_MAX = 100;

/** The type of a name. */
function resolve(type: Type): Resolved {
  let current = type;
  for (let hops = 0; current.kind === 'named'; hops++) current = hops > HOPS_MAX ? ANY : current.definition.type;
  return current;
}

/** The alternatives of a type, names resolved and unions flattened; a choice with null counts null apart. */
export function membersOf(type: Type): readonly Member[] {
  const only = resolve(type);
  if (only.kind !== 'union' && only.kind !== 'choice') return [only];
  const members = new Set<Member>();
  collectMembers(type, members, new Set());
  return [...members];
}

/** Visits each union once: unions of named unions could otherwise double at every name. */
function collectMembers(type: Type, members: Set<Member>, visited: Set<Type>): void {
  const resolved = resolve(type);
  if (resolved.kind === 'union') {
    if (visited.has(resolved)) return;
    visited.add(resolved);
    for (const member of resolved.of) collectMembers(member, members, visited);
  } else if (resolved.kind === 'choice' && resolved.values.includes(null)) {
    const values = resolved.values.filter((value) => value !== null);
    if (values.length > 0) members.add({ kind: 'choice', values });
    members.add(NULL as Member);
  } else members.add(resolved);
}

/** True when null is among the values. `any` is not counted: what it holds is only known at run time. */
export function isNullable(type: Type): boolean {
  const { kind } = resolve(type);
  if (kind !== 'union' && kind !== 'choice') return kind === 'null';
  return membersOf(type).some((member) => member.kind === 'null');
}

/** The type without null; `any` stays. */
export function withoutNull(type: Type): Type {
  if (!isNullable(type)) return type;
  return unionOf(membersOf(type).filter((member) => member.kind !== 'null'));
}

export function orNull(type: Type): Type {
  return isNullable(type) ? type : unionOf([type, NULL]);
}

/** The smallest type holding all of `types`: repeats merged, choices joined, integer inside number dropped. */
export function unionOf(types: readonly Type[]): Type {
  const [only] = types;
  if (types.length === 1 && only) return only;
  const kept: Type[] = [];
  const places = new Map<string, number>();
  let choice: ScalarValue[] = [];
  for (const type of types) {
    const parts = type.kind === 'union' ? type.of : [type];
    for (const part of parts) {
      if (part.kind === 'any') return ANY;
      if (part.kind === 'choice') {
        choice = [...new Set([...choice, ...part.values])].slice(0, CHOICE_VALUES_MAX);
        continue;
      }
      const key = showType(part);
      const place = places.get(key);
      if (place === undefined) places.set(key, kept.push(part) - 1);
      else if (kept[place] !== part) kept[place] = withoutBounds(part);
    }
  }
  const rest = choice.filter((value) => !kept.some((type) => holdsLiteral(type, value)));
  if (rest.length > 0) kept.push({ kind: 'choice', values: rest });
  const merged = kept.filter((type) => type.kind !== 'integer' || !kept.some((other) => other.kind === 'number'));
  if (merged.length === 0) return NULL;
  return merged.length === 1 && merged[0] ? merged[0] : { kind: 'union', of: merged };
}

/** The same type without ranges and patterns: what `string 1..5` and `string` have in common. */
function withoutBounds(type: Type): Type {
  switch (type.kind) {
    case 'number':
    case 'integer':
      return { kind: type.kind, bounds: {} };
    case 'string':
      return { kind: 'string', bounds: {}, ...(type.format === undefined ? {} : { format: type.format }) };
    case 'list':
    case 'map':
      return { kind: type.kind, of: withoutBounds(type.of), bounds: {} };
    case 'object': {
      const fields = Array.from(
        type.fields,
        ([name, field]) => [name, { ...field, type: withoutBounds(field.type) }] as const,
      );
      return { kind: 'object', fields: new Map(fields) };
    }
    default:
      return type;
  }
}

const CHOICE_VALUES_MAX = 200;

/** True when a literal adds nothing to the type: `3` beside integer. Formats and bounds may exclude it. */
function holdsLiteral(type: Type, value: ScalarValue): boolean {
  if (type.kind === 'integer' || type.kind === 'number') {
    const fits = type.kind === 'number' ? typeof value === 'number' : Number.isInteger(value);
    return fits && Object.keys(type.bounds).length === 0;
  }
  if (type.kind === 'string') {
    const plain = type.format === undefined && type.pattern === undefined && Object.keys(type.bounds).length === 0;
    return typeof value === 'string' && plain;
  }
  return type.kind === (value === null ? 'null' : typeof value);
}

/** True when `test` holds for every alternative. */
export function every(type: Type, test: (member: Type) => boolean): boolean {
  return membersOf(type).every((member) => member.kind === 'any' || member.kind === 'raw' || test(member));
}

export const isNumber = (type: Type): boolean => every(type, (t) => isNumberMember(t));
export const isText = (type: Type): boolean => every(type, (t) => isTextMember(t));
export const isBoolean = (type: Type): boolean => every(type, (t) => isBooleanMember(t));

/** True when the type of the value is unknown before the run. */
export function isUnknown(type: Type): boolean {
  const { kind } = resolve(type);
  return kind === 'any' || kind === 'raw';
}

const isNumberMember = (t: Type): boolean =>
  t.kind === 'number' || t.kind === 'integer' || (t.kind === 'choice' && t.values.every((v) => typeof v === 'number'));
const isTextMember = (t: Type): boolean =>
  t.kind === 'string' || (t.kind === 'choice' && t.values.every((v) => typeof v === 'string'));
const isBooleanMember = (t: Type): boolean =>
  t.kind === 'boolean' || (t.kind === 'choice' && t.values.every((v) => typeof v === 'boolean'));

const containing = { secret: new WeakMap<Type, boolean>(), file: new WeakMap<Type, boolean>() };

/** True when a value of the type can hold a value of the kind anywhere. Ask once all names are settled. */
export function contains(type: Type, kind: 'secret' | 'file'): boolean {
  const resolved = resolve(type);
  if (resolved.kind === kind) return true;
  if (resolved.kind === 'list' || resolved.kind === 'map') return contains(resolved.of, kind);
  if (resolved.kind !== 'union' && resolved.kind !== 'object') return false;
  const known = containing[kind].get(resolved);
  if (known !== undefined) return known;
  const inner = resolved.kind === 'union' ? resolved.of : Array.from(resolved.fields.values(), (field) => field.type);
  const answer = inner.some((member) => contains(member, kind));
  if (resolved.kind === 'union' || !resolved.growing) containing[kind].set(resolved, answer);
  return answer;
}

/** The type in the author's notation, shortened for messages. */
function showType(type: Type): string {
  switch (type.kind) {
    case 'list':
    case 'map':
      return `${type.kind}<${showType(type.of)}>`;
    case 'union':
      return type.of.map(showType).join(' | ');
    case 'choice':
      return `[${type.values.map((value) => String(value)).join(', ')}]`;
    case 'named':
      return type.name;
    case 'object':
      return `{ ${Array.from(type.fields, ([name, field]) => `${name}: ${showType(field.type)}`).join(', ')} }`;
    case 'open':
      return 'object';
    case 'raw':
      return 'any';
    case 'string': {
      for (const [word, format] of FORMATS) if (format === type.format) return word;
      return 'string';
    }
    default:
      return type.kind;
  }
}

/** The type for the middle of a sentence. */
export function shortType(type: Type): string {
  const text = showType(type);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
