// Owns the rules on single values: `enum`, `const`, the bounds of numbers, and the length, pattern and format of texts.
import { isJsonList, type JsonObject, type JsonValue, ownField } from '../json.ts';
import { hasFormat } from '../types/formats.ts';
import { countOf, numberOf } from '../types/schema-keywords.ts';
import { DistinctValues } from './distinct-values.ts';
import { boundedPattern, type Meter } from './effort.ts';
import type { Rule } from './schema-node.ts';
import type { Check } from './value-check-run.ts';

type NumberRule = (value: number, check: Check) => boolean;
type TextRule = (value: string, check: Check) => boolean;

export function valueRules(schema: JsonObject, meter: Meter): Rule[] {
  const rules: Rule[] = [];
  const values = ownField(schema, 'enum');
  if (isJsonList(values))
    rules.push(oneOfThese(values, meter, (check) => check.miss({ code: 'not_a_choice', values })));
  const constant = ownField(schema, 'const');
  if (constant !== undefined) {
    rules.push(
      oneOfThese([constant], meter, (check) => check.miss({ code: 'const', message: 'must be equal to constant' })),
    );
  }
  return rules;
}

/** By look-up: a long list of choices is not searched for each value. */
function oneOfThese(values: readonly JsonValue[], meter: Meter, miss: (check: Check) => false): Rule {
  const known = new DistinctValues();
  for (const value of values) known.add(value, meter);
  return (value: JsonValue, check: Check) => known.has(value, check.meter) || miss(check);
}

export function numberRules(schema: JsonObject): Rule[] {
  const rules: NumberRule[] = [];
  const bound = (keyword: string, code: string, words: string, holds: (value: number, limit: number) => boolean) => {
    const limit = numberOf(schema, keyword);
    if (limit === undefined) return;
    const message = `must be ${words} ${limit}`;
    rules.push((value, check) => holds(value, limit) || check.miss({ code, message }));
  };
  bound('maximum', 'too_large', 'at most', (value, limit) => value <= limit);
  bound('minimum', 'too_small', 'at least', (value, limit) => value >= limit);
  bound('exclusiveMaximum', 'too_large', 'less than', (value, limit) => value < limit);
  bound('exclusiveMinimum', 'too_small', 'more than', (value, limit) => value > limit);
  bound('multipleOf', 'multipleOf', 'a multiple of', (value, limit) => Number.isInteger(value / limit));
  return rules as Rule[];
}

const CHARACTERS_A_STEP = 16;

export function textRules(schema: JsonObject): Rule[] {
  const rules: TextRule[] = [];
  const [min, max] = [numberOf(schema, 'minLength'), numberOf(schema, 'maxLength')];
  if (min !== undefined || max !== undefined) rules.push(lengthRule(min ?? 0, max ?? Number.POSITIVE_INFINITY));
  const pattern = ownField(schema, 'pattern');
  if (typeof pattern === 'string') {
    const found = boundedPattern(pattern);
    const message = `must match /${pattern}/`;
    rules.push((text, check) => found(text, check.meter) || check.miss({ code: 'pattern', message }));
  }
  const format = ownField(schema, 'format');
  if (typeof format === 'string') {
    rules.push((text, check) => {
      check.meter.charge(8 + text.length / 2);
      return hasFormat(format, text) || check.miss({ code: 'format', format });
    });
  }
  return rules as Rule[];
}

/** Counted in code points, and only where the count of UTF-16 units leaves it open. */
function lengthRule(min: number, max: number): TextRule {
  return (text, check) => {
    let length = text.length;
    if (length >= min && (length > max || length < min * 2)) {
      check.meter.charge(length / CHARACTERS_A_STEP);
      length = codePoints(text);
    }
    let keeps = true;
    if (length > max) {
      keeps = check.miss({ code: 'too_long', message: `must have at most ${countOf(max, 'character')}` });
    }
    if (length < min) {
      keeps = check.miss({ code: 'too_short', message: `must have at least ${countOf(min, 'character')}` });
    }
    return keeps;
  };
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    count--;
    at++;
  }
  return count;
}
