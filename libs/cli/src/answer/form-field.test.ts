import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { choiceWords, faultOf, fieldWords, formFields, itemField, promptWords, valueOfLine } from './form-field.ts';

function fieldOf(schema: JsonSchema, required = true) {
  const [field] = formFields({
    type: 'object',
    properties: { it: schema },
    required: required ? ['it'] : [],
    $defs: { Team: { enum: ['sales', 'support'] } },
  });
  if (field === undefined) throw new Error('no field');
  return field;
}

function typed(schema: JsonSchema, line: string, required = true): JsonValue | undefined {
  return valueOfLine(fieldOf(schema, required), line);
}

test('a line becomes the value its field takes', () => {
  deepEqual(typed({ type: 'string' }, ' as it is '), ' as it is ');
  deepEqual(typed({ type: 'number' }, '1.5'), 1.5);
  deepEqual(typed({ type: 'boolean' }, 'Yes'), true);
  deepEqual(typed({ type: 'boolean' }, 'n'), false);
  deepEqual(typed({ type: 'array', items: { type: 'string' } }, '["a", "b"]'), ['a', 'b']);
  deepEqual(typed({ type: 'object' }, '{"a": 1}'), { a: 1 });
  deepEqual(typed({ type: 'number' }, 'many'), 'many');
});

test('a choice is taken by its word or its number, the word first', () => {
  deepEqual(typed({ $ref: '#/$defs/Team' }, '2'), 'support');
  deepEqual(typed({ $ref: '#/$defs/Team' }, 'Sales'), 'sales');
  deepEqual(typed({ enum: [2, 1] }, '1'), 1);
  deepEqual(typed({ enum: ['a'] }, '7'), '7');
});

test('an empty line leaves out what may be left out', () => {
  equal(typed({ type: 'string' }, '', false), undefined);
  equal(typed({ type: 'string', default: 'x' }, ''), undefined);
  equal(typed({ type: ['string', 'null'] }, ''), null);
  equal(typed({ type: 'string' }, ''), '');
});

test('a field says what it takes', () => {
  equal(promptWords(fieldOf({ $ref: '#/$defs/Team' })), '1 sales, 2 support');
  equal(fieldWords(fieldOf({ $ref: '#/$defs/Team' })), 'sales or support');
  equal(promptWords(fieldOf({ type: 'integer', default: 3 })), 'a whole number; Enter for 3');
  equal(fieldWords(fieldOf({ type: 'string', format: 'email' }, false)), 'email; optional');
});

test('an item of a list is a field of its own', () => {
  const item = itemField(fieldOf({ type: 'array', items: { $ref: '#/$defs/Team' } }));
  if (item === null) throw new Error('no item');
  deepEqual(choiceWords(item), ['sales', 'support']);
  deepEqual(valueOfLine(item, '2'), 'support');
  equal(faultOf(item, 'sales'), null);
  ok(faultOf(item, 'elsewhere'));
  equal(itemField(fieldOf({ type: 'string' })), null);
});

test('the fault of a value is one sentence', () => {
  match(faultOf(fieldOf({ type: 'integer', maximum: 10 }), 99) ?? '', /must be <= 10/);
  match(faultOf(fieldOf({ type: 'array', items: { type: 'string' } }), [1]) ?? '', /^0 must be text/);
});
