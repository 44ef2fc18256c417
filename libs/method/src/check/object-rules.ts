// Owns the rules on objects.
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownField } from '../json.ts';
import { countOf, numberOf, partOf } from '../types/schema-keywords.ts';
import { boundedPattern, type Meter } from './effort.ts';
import type { MissedRule } from './finding-sink.ts';
import type { Rule, SchemaBook, SchemaNode } from './schema-node.ts';
import type { Check } from './value-check-run.ts';

type ObjectRule = (object: JsonObject, check: Check) => boolean;

export function objectRules(schema: JsonObject, book: SchemaBook): Rule[] {
  const rules: ObjectRule[] = [];
  const max = numberOf(schema, 'maxProperties');
  const min = numberOf(schema, 'minProperties');
  if (max !== undefined || min !== undefined) rules.push(sizeRule(min ?? 0, max ?? Number.POSITIVE_INFINITY));
  const required = textsOf(ownField(schema, 'required'));
  if (required.length > 0) rules.push(requiredRule(required));
  const fields = fieldsRule(schema, book);
  if (fields !== null) rules.push(fields);
  const names = partOf(schema, 'propertyNames');
  if (names !== undefined) rules.push(namesRule(book.node(names)));
  for (const [name, needed] of entriesOf(schema, 'dependentRequired')) {
    if (isJsonList(needed)) rules.push(dependentRule(name, textsOf(needed)));
  }
  for (const [name, part] of entriesOf(schema, 'dependentSchemas')) {
    const node = book.node(part);
    rules.push((object, check) => !Object.hasOwn(object, name) || check.fits(node, object as JsonValue));
  }
  return rules as Rule[];
}

function sizeRule(min: number, max: number): ObjectRule {
  return (object, check) => {
    const { length } = Object.keys(object);
    check.meter.charge(length);
    if (length > max) return check.miss({ code: 'too_many', message: `must have at most ${countOf(max, 'field')}` });
    return length >= min || check.miss({ code: 'too_few', message: `must have at least ${countOf(min, 'field')}` });
  };
}

function requiredRule(required: readonly string[]): ObjectRule {
  return (object, check) => {
    check.meter.charge(required.length);
    let keeps = true;
    for (const name of required) {
      if (Object.hasOwn(object, name)) continue;
      keeps = check.miss({ code: 'required', message: 'is required' }, name);
      if (check.done) break;
    }
    return keeps;
  };
}

interface FieldPattern {
  readonly found: (name: string, meter: Meter) => boolean;
  readonly node: SchemaNode;
}

/** `properties`, `patternProperties` and `additionalProperties` in one walk over the fields that are there. */
function fieldsRule(schema: JsonObject, book: SchemaBook): ObjectRule | null {
  const declared = new Map(entriesOf(schema, 'properties').map(([name, part]) => [name, book.node(part)] as const));
  const patterns = entriesOf(schema, 'patternProperties').map(
    ([source, part]): FieldPattern => ({ found: boundedPattern(source), node: book.node(part) }),
  );
  const rest = partOf(schema, 'additionalProperties');
  const others = rest === undefined || rest === false ? null : book.node(rest);
  if (declared.size === 0 && patterns.length === 0 && rest === undefined) return null;
  const unknown: MissedRule = { code: 'unknown_field', names: [...declared.keys()] };
  return (object, check) => {
    const names = Object.keys(object);
    check.meter.charge(names.length * (2 + patterns.length));
    let keeps = true;
    for (const name of names) {
      const value = object[name] as JsonValue;
      const property = declared.get(name);
      let known = property !== undefined;
      let fits = property === undefined || check.fitsBelow(property, value, name);
      for (const { found, node } of patterns) {
        if (!found(name, check.meter)) continue;
        known = true;
        if (!check.fitsBelow(node, value, name)) fits = false;
      }
      if (!known && rest === false) fits = check.miss(unknown, name);
      else if (!known && others !== null) fits = check.fitsBelow(others, value, name);
      if (known || rest !== undefined) check.evaluated?.fields.add(name);
      if (fits) continue;
      keeps = false;
      if (check.done) break;
    }
    return keeps;
  };
}

function namesRule(node: SchemaNode): ObjectRule {
  return (object, check) => {
    const names = Object.keys(object);
    check.meter.charge(names.length);
    const { evaluated } = check;
    check.evaluated = null;
    const fits = names.every((name) => check.tries(node, name));
    check.evaluated = evaluated;
    return fits || check.miss({ code: 'propertyNames', message: 'property name must be valid' });
  };
}

function dependentRule(name: string, needed: readonly string[]): ObjectRule {
  const list = needed.slice(0, 20).join(', ');
  const message = `must have ${needed.length === 1 ? 'property' : 'properties'} ${list} when property ${name} is present`;
  return (object, check) => {
    check.meter.charge(1 + needed.length);
    if (!Object.hasOwn(object, name) || needed.every((other) => Object.hasOwn(object, other))) return true;
    return check.miss({ code: 'dependentRequired', message });
  };
}

export function unevaluatedFieldsRule(schema: JsonObject, book: SchemaBook): Rule[] {
  const part = partOf(schema, 'unevaluatedProperties');
  if (part === undefined) return [];
  const node = part === false ? null : book.node(part);
  const unknown: MissedRule = { code: 'unknown_field', names: entriesOf(schema, 'properties').map(([name]) => name) };
  const rule: ObjectRule = (object, check) => {
    const { evaluated } = check;
    if (evaluated === null) return true;
    const names = Object.keys(object);
    check.meter.charge(names.length);
    let keeps = true;
    for (const name of names) {
      if (evaluated.fields.has(name)) continue;
      evaluated.fields.add(name);
      const value = object[name] as JsonValue;
      if (node === null ? check.miss(unknown, name) : check.fitsBelow(node, value, name)) continue;
      keeps = false;
      if (check.done) break;
    }
    return keeps;
  };
  return [rule as Rule];
}

function textsOf(list: JsonValue | undefined): string[] {
  return isJsonList(list) ? list.filter((item) => typeof item === 'string') : [];
}

function entriesOf(schema: JsonObject, keyword: string): [string, JsonValue][] {
  const map = ownField(schema, keyword);
  return isJsonObject(map) ? Object.entries(map) : [];
}
