// Owns the turn of a schema into its rules, sorted by the kinds of values they judge.
import { isJsonObject, type JsonValue } from '../json.ts';
import { combiningRules } from './combining-rules.ts';
import type { Meter } from './effort.ts';
import { listRules, unevaluatedItemsRule } from './list-rules.ts';
import { objectRules, unevaluatedFieldsRule } from './object-rules.ts';
import { numberRules, textRules, valueRules } from './scalar-rules.ts';
import type { Rule, Rules, SchemaBook } from './schema-node.ts';

const STEPS_A_KEYWORD = 20;
const STEPS_AN_ENTRY = 16;

const NEVER: Rule = (_, check) => check.miss({ code: 'not', message: 'must NOT be valid' });
const NONE = { text: [], number: [], list: [], object: [], scalar: [], tracks: false };
const REFUSED = { text: [NEVER], number: [NEVER], list: [NEVER], object: [NEVER], scalar: [NEVER], tracks: false };

/** An invalid schema allows nothing, as `false` does. */
export function rulesOf(schema: JsonValue, book: SchemaBook, meter: Meter): Rules {
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
