// Owns the rules on lists.
import { isJsonList, type JsonObject, type JsonValue, ownField } from '../json.ts';
import { countOf, numberOf, partOf } from '../types/schema-keywords.ts';
import { DistinctValues } from './distinct-values.ts';
import type { Rule, SchemaBook, SchemaNode } from './schema-node.ts';
import type { Check } from './value-check-run.ts';

type ListRule = (list: readonly JsonValue[], check: Check) => boolean;

export function listRules(schema: JsonObject, book: SchemaBook): Rule[] {
  const rules: ListRule[] = [];
  const max = numberOf(schema, 'maxItems');
  if (max !== undefined) {
    const rule = { code: 'too_many', message: `must have at most ${countOf(max, 'item')}` };
    rules.push((list, check) => list.length <= max || check.miss(rule));
  }
  const min = numberOf(schema, 'minItems');
  if (min !== undefined) {
    const rule = { code: 'too_few', message: `must have at least ${countOf(min, 'item')}` };
    rules.push((list, check) => list.length >= min || check.miss(rule));
  }
  const first = ownField(schema, 'prefixItems');
  const prefix = isJsonList(first) ? first.map((item) => book.node(item)) : [];
  const rest = partOf(schema, 'items');
  const items = rest === undefined ? null : book.node(rest);
  if (prefix.length > 0 || items !== null) rules.push(itemsRule(prefix, items));
  const contained = partOf(schema, 'contains');
  if (contained !== undefined) rules.push(containsRule(schema, book.node(contained)));
  if (ownField(schema, 'uniqueItems') === true) rules.push(uniqueRule);
  return rules as Rule[];
}

function itemsRule(prefix: readonly SchemaNode[], items: SchemaNode | null): ListRule {
  return (list, check) => {
    let keeps = true;
    const end = items === null ? Math.min(prefix.length, list.length) : list.length;
    for (let at = 0; at < end; at++) {
      const node = prefix[at] ?? items;
      if (node === null || check.fitsBelow(node, list[at] ?? null, at)) continue;
      keeps = false;
      if (check.done) break;
    }
    if (check.evaluated !== null) check.evaluated.itemsBefore = Math.max(check.evaluated.itemsBefore, end);
    return keeps;
  };
}

function containsRule(schema: JsonObject, node: SchemaNode): ListRule {
  const min = numberOf(schema, 'minContains') ?? 1;
  const max = numberOf(schema, 'maxContains');
  const upTo = max === undefined ? '' : ` and no more than ${max}`;
  const rule = { code: 'contains', message: `must contain at least ${min}${upTo} valid item(s)` };
  return (list, check) => {
    let count = 0;
    for (const [at, item] of list.entries()) {
      const { evaluated } = check;
      check.evaluated = null;
      const fits = check.tries(node, item);
      check.evaluated = evaluated;
      if (!fits) continue;
      count++;
      evaluated?.items.add(at);
      if (evaluated === null && (max === undefined ? count >= min : count > max)) break;
    }
    return (count >= min && (max === undefined || count <= max)) || check.miss(rule);
  };
}

const uniqueRule: ListRule = (list, check) => {
  const seen = new DistinctValues();
  if (list.every((item) => seen.add(item, check.meter))) return true;
  return check.miss({ code: 'repeated', message: 'must not hold the same item twice' });
};

export function unevaluatedItemsRule(schema: JsonObject, book: SchemaBook): Rule[] {
  const part = partOf(schema, 'unevaluatedItems');
  if (part === undefined) return [];
  const node = book.node(part);
  const rule: ListRule = (list, check) => {
    const { evaluated } = check;
    if (evaluated === null) return true;
    let keeps = true;
    for (let at = evaluated.itemsBefore; at < list.length; at++) {
      if (evaluated.items.has(at) || check.fitsBelow(node, list[at] ?? null, at)) continue;
      keeps = false;
      if (check.done) break;
    }
    evaluated.itemsBefore = list.length;
    return keeps;
  };
  return [rule as Rule];
}
