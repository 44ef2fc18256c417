// Owns the question whether a value the author wrote (a default) fits a type, and whether two types can share a value.
import { isJsonList, isJsonObject, type JsonValue, ownField } from '../json.ts';
import { hasFormat } from './formats.ts';
import { type Bounds, membersOf, type Type } from './type.ts';

/**
 * True when `value` fits. It must be complete: fields that have defaults of their own must be given too, because defaults
 * are never filled into defaults (nested ones could grow without bound).
 */
export function fits(value: JsonValue, type: Type): boolean {
  return membersOf(type).some((member) => fitsMember(value, member));
}

type Member = ReturnType<typeof membersOf>[number];

function fitsMember(value: JsonValue, type: Member): boolean {
  switch (type.kind) {
    case 'any':
    case 'raw':
      return true;
    case 'null':
      return value === null;
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && inBounds(value, type.bounds);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) && inBounds(value, type.bounds);
    case 'choice':
      return type.values.some((choice) => choice === value);
    case 'string':
      if (typeof value !== 'string' || !inBounds([...value].length, type.bounds)) return false;
      if (type.format !== undefined && !hasFormat(type.format, value)) return false;
      return type.pattern === undefined || type.pattern.test(value);
    case 'list':
      return isJsonList(value) && inBounds(value.length, type.bounds) && value.every((item) => fits(item, type.of));
    case 'open':
      return isJsonObject(value);
    case 'map': {
      if (!isJsonObject(value)) return false;
      const values = Object.values(value);
      return inBounds(values.length, type.bounds) && values.every((item) => fits(item, type.of));
    }
    case 'object': {
      if (!isJsonObject(value)) return false;
      if (Object.keys(value).some((name) => !type.fields.has(name))) return false;
      for (const [name, field] of type.fields) {
        const item = ownField(value, name);
        if (item === undefined ? !field.optional : !fits(item, field.type)) return false;
      }
      return true;
    }
    case 'file':
    case 'secret':
      return false;
  }
}

function inBounds(amount: number, bounds: Bounds): boolean {
  if (bounds.min !== undefined && (bounds.minExclusive ? amount <= bounds.min : amount < bounds.min)) return false;
  return bounds.max === undefined || (bounds.maxExclusive ? amount < bounds.max : amount <= bounds.max);
}

/** False when no value can belong to both types: the kinds are apart, or two choices share nothing. */
export function overlap(a: Type, b: Type): boolean {
  return membersOf(a).some((left) => membersOf(b).some((right) => overlapMembers(left, right)));
}

function overlapMembers(a: Member, b: Member): boolean {
  if (a.kind === 'any' || b.kind === 'any' || a.kind === 'raw' || b.kind === 'raw') return true;
  if (a.kind === 'choice' && b.kind === 'choice') return a.values.some((value) => b.values.includes(value));
  if (a.kind === 'choice') return a.values.some((value) => fitsShape(value, b));
  if (b.kind === 'choice') return b.values.some((value) => fitsShape(value, a));
  return shapeOf(a) === shapeOf(b);
}

function fitsShape(value: string | number | boolean | null, type: Member): boolean {
  return shapeOf(type) === (value === null ? 'null' : typeof value);
}

/** The JSON kind of a type's values. Files are objects, secrets are texts. */
export function shapeOf(type: Member): string {
  switch (type.kind) {
    case 'integer':
      return 'number';
    case 'map':
    case 'open':
    case 'file':
      return 'object';
    case 'secret':
      return 'string';
    default:
      return type.kind;
  }
}
