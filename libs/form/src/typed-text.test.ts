import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { fieldOf } from './form.fixture.ts';
import { valueOfText } from './typed-text.ts';

function typed(schema: JsonSchema, text: string, required = true): JsonValue | undefined {
  return valueOfText(fieldOf(schema, required), text);
}

test('a text becomes the value its field takes', () => {
  deepEqual(typed({ type: 'string' }, ' as it is '), ' as it is ');
  deepEqual(typed({ type: 'number' }, '1.5'), 1.5);
  deepEqual(typed({ type: 'boolean' }, 'Yes'), true);
  deepEqual(typed({ type: 'boolean' }, 'n'), false);
  deepEqual(typed({ type: 'array', items: { type: 'string' } }, '["a", "b"]'), ['a', 'b']);
  deepEqual(typed({ type: 'object' }, '{"a": 1}'), { a: 1 });
  deepEqual(typed({ type: ['string', 'number'] }, '5'), '5');
  deepEqual(typed({ type: 'number' }, 'many'), 'many');
});

test('a choice is taken by its word or its number, the word first', () => {
  deepEqual(typed({ $ref: '#/$defs/Team' }, '2'), 'support');
  deepEqual(typed({ $ref: '#/$defs/Team' }, 'Sales'), 'sales');
  deepEqual(typed({ enum: [2, 1] }, '1'), 1);
  deepEqual(typed({ enum: ['a'] }, '7'), '7');
});

test('an empty text leaves out what may be left out', () => {
  equal(typed({ type: 'string' }, '', false), undefined);
  equal(typed({ type: 'string', default: 'x' }, ''), undefined);
  equal(typed({ type: ['string', 'null'] }, ''), null);
  equal(typed({ type: 'string' }, ''), '');
  deepEqual(typed({ type: 'array', items: { type: 'string' } }, ''), []);
});
