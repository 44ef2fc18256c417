import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { type Field, faultOf, readForm } from './field.ts';
import { kindWords } from './field-words.ts';
import { EVERY_KIND, fieldOf } from './form.fixture.ts';

test('a form has a field for each property, in the order of the schema', () => {
  const { fields } = readForm(EVERY_KIND);
  deepEqual(
    fields.map(({ name, kind, required }) => `${name} ${kind}${required ? '' : '?'}`),
    [
      'decision choice',
      'sure boolean',
      'note text',
      'count number',
      'due text',
      'tags list',
      'teams list',
      'lines list',
      'address group',
      'extra json',
      'channel text?',
      'rate number?',
    ],
  );
});

test('a field has the label, the description and the default of its schema', () => {
  const [decision, sure] = readForm(EVERY_KIND).fields;
  equal(decision?.label, 'Decision');
  equal(decision?.description, 'Of the refund.');
  equal(sure?.label, 'sure');
  equal(sure?.default, undefined);
  equal(fieldOf({ type: 'string', default: '' }, false).default, '');
});

test('a field describes its values', () => {
  const words = (schema: Parameters<typeof fieldOf>[0]) => kindWords(fieldOf(schema));
  equal(words({ $ref: '#/$defs/Team' }), 'sales or support');
  equal(words({ type: 'integer', minimum: 1, maximum: 10 }), 'a whole number from 1 to 10');
  equal(words({ type: 'number', exclusiveMinimum: 0, maximum: 1 }), 'a number above 0 and of at most 1');
  equal(words({ type: 'string', minLength: 1, maxLength: 80 }), 'text of 1 to 80 characters');
  equal(words({ type: 'string', format: 'email' }), 'an e-mail address');
  equal(words({ type: 'string', format: 'constructor' }), 'constructor');
  equal(words({ type: 'array', items: { type: 'string' } }), 'a list, an item a line');
  equal(words({}), 'JSON');
});

test('a choice of values and null is a choice that may be null', () => {
  const field = fieldOf({ enum: ['a', 2, null] });
  equal(field.kind, 'choice');
  deepEqual(field.kind === 'choice' && field.choices, ['a', 2]);
  equal(field.nullable, true);
});

test('a type that contains itself ends as JSON', () => {
  const kinds: string[] = [];
  let field: Field | undefined = fieldOf({ $ref: '#/$defs/Tree' });
  while (field !== undefined) {
    kinds.push(field.kind);
    field = field.kind === 'group' ? field.fields[0] : field.kind === 'list' ? field.item : undefined;
  }
  deepEqual(kinds, ['group', 'list', 'group', 'json']);
});

test('a form of very many fields has JSON in place of further groups', () => {
  const properties = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, { $ref: '#/$defs/Tree' }]));
  const { fields } = readForm({
    type: 'object',
    properties,
    $defs: { Tree: { type: 'object', additionalProperties: false, properties: { a: { type: 'string' } } } },
  });
  equal(fields.length, 600);
  equal(fields[0]?.kind, 'group');
  equal(fields.at(-1)?.kind, 'json');
});

test('a schema that is not a form has no fields', () => {
  deepEqual(readForm({}).fields, []);
  deepEqual(readForm({ properties: [], required: 7 }).fields, []);
  equal(fieldOf({ $ref: '#/$defs/__proto__' }).kind, 'json');
});

test('the fault of a value is one sentence', () => {
  match(faultOf(fieldOf({ type: 'integer', maximum: 10 }), 99) ?? '', /must be at most 10/);
  match(faultOf(fieldOf({ type: 'array', items: { type: 'string' } }), [1]) ?? '', /^0 must be text/);
  equal(faultOf(fieldOf({ $ref: '#/$defs/Team' }), 'sales'), null);
});
