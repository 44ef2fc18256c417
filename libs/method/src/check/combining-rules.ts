// Owns the rules made of other schemas at the same place: references, `allOf`, `anyOf`, `oneOf`, `not` and `if`.
import { isJsonList, type JsonObject, type JsonValue, ownField } from '../json.ts';
import { partOf } from '../types/schema-keywords.ts';
import type { Rule, SchemaBook, SchemaNode } from './schema-node.ts';
import type { Check } from './value-check-run.ts';

type ValueRule = (value: JsonValue, check: Check) => boolean;

export function combiningRules(schema: JsonObject, book: SchemaBook): Rule[] {
  const rules: ValueRule[] = [];
  const nodesAt = (keyword: string): SchemaNode[] | null => {
    const list = ownField(schema, keyword);
    return isJsonList(list) ? list.map((part) => book.node(part)) : null;
  };
  const reference = ownField(schema, '$ref');
  if (reference !== undefined) {
    const target = book.target(reference) ?? book.node(false);
    rules.push((value, check) => check.fits(target, value));
  }
  const all = nodesAt('allOf');
  if (all !== null) rules.push(allRule(all));
  const any = nodesAt('anyOf');
  if (any !== null) rules.push(anyRule(any));
  const one = nodesAt('oneOf');
  if (one !== null) rules.push(oneRule(one));
  const not = partOf(schema, 'not');
  if (not !== undefined) rules.push(notRule(book.node(not)));
  const condition = partOf(schema, 'if');
  if (condition !== undefined) {
    const [met, unmet] = [partOf(schema, 'then'), partOf(schema, 'else')];
    rules.push(
      ifRule(
        book.node(condition),
        met === undefined ? null : book.node(met),
        unmet === undefined ? null : book.node(unmet),
      ),
    );
  }
  return rules as Rule[];
}

function allRule(nodes: readonly SchemaNode[]): ValueRule {
  return (value, check) => {
    let keeps = true;
    for (const node of nodes) {
      if (check.fits(node, value)) continue;
      keeps = false;
      if (check.done) break;
    }
    return keeps;
  };
}

function anyRule(nodes: readonly SchemaNode[]): ValueRule {
  return (value, check) => {
    let fits = false;
    for (const node of nodes) {
      if (!check.tries(node, value)) continue;
      fits = true;
      // All branches are checked only if a later rule needs to know what they looked at.
      if (check.evaluated === null) break;
    }
    return fits || missedAll(nodes, value, check);
  };
}

function oneRule(nodes: readonly SchemaNode[]): ValueRule {
  return (value, check) => {
    let fitting = 0;
    for (const node of nodes) if (check.tries(node, value) && ++fitting > 1) break;
    if (fitting === 1) return true;
    if (fitting === 0) return missedAll(nodes, value, check);
    return check.miss({ code: 'oneOf', message: 'must match exactly one schema in oneOf' });
  };
}

/**
 * A union reports every branch it is not. When something deeper is wrong, the branch the author meant is clear and only
 * that counts; otherwise the kinds are named once, together.
 */
function missedAll(nodes: readonly SchemaNode[], value: JsonValue, check: Check): false {
  const found = check.foundBy(nodes, value);
  if (found !== null) check.sink?.addUnion(found, check.path);
  return false;
}

function notRule(node: SchemaNode): ValueRule {
  return (value, check) => {
    const { evaluated } = check;
    check.evaluated = null;
    const fits = check.tries(node, value);
    check.evaluated = evaluated;
    return !fits || check.miss({ code: 'not', message: 'must NOT be valid' });
  };
}

function ifRule(condition: SchemaNode, met: SchemaNode | null, unmet: SchemaNode | null): ValueRule {
  return (value, check) => {
    const holds = check.tries(condition, value);
    const next = holds ? met : unmet;
    if (next === null || check.fits(next, value)) return true;
    return check.miss({ code: 'if', message: `must match "${holds ? 'then' : 'else'}" schema` });
  };
}
