// Schemas and values made to make a check slow: each pair costs a naive checker seconds or gigabytes.
import type { JsonSchema, JsonValue } from '../json.ts';

export interface Attack {
  readonly schema: JsonSchema;
  readonly value: JsonValue;
}

const list = (length: number, item: (index: number) => JsonValue): JsonValue[] =>
  Array.from({ length }, (_, index) => item(index));
const branches = (count: number, branch: (index: number) => JsonSchema): JsonSchema[] =>
  Array.from({ length: count }, (_, index) => branch(index));
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const named = (count: number, field: (index: number) => JsonValue): JsonSchema =>
  Object.fromEntries(list(count, (index) => [`field_${index}`, field(index)] as unknown as JsonValue) as never);

function nested(levels: number, schema: (inner: JsonSchema) => JsonSchema, innermost: JsonSchema): JsonSchema {
  let current = innermost;
  for (let level = 0; level < levels; level++) current = schema(current);
  return current;
}

const SELF = { anyOf: [{ $ref: '#/$defs/self' }, { $ref: '#/$defs/self' }, { type: 'null' }] };

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'a form that refers to itself in two branches': {
    schema: { $defs: { self: { anyOf: [{ $ref: '#/$defs/self' }, { $ref: '#/$defs/self' }] } }, $ref: '#/$defs/self' },
    value: { decision: 'yes' },
  },
  'a form whose lists refer to the form in two branches': {
    schema: {
      $defs: {
        self: {
          anyOf: [
            { type: 'array', items: SELF },
            { type: 'array', items: SELF, minItems: 1 },
          ],
        },
      },
      $ref: '#/$defs/self',
    },
    value: nestedList(50, 1),
  },
  'a form that is itself': { schema: { $ref: '#' }, value: 1 },
  'a union of objects that each hold the union': {
    schema: {
      $defs: {
        self: {
          anyOf: branches(2, () => ({ type: 'object', properties: { a: { $ref: '#/$defs/self' } }, required: ['b'] })),
        },
      },
      $ref: '#/$defs/self',
    },
    value: nestedObject(60),
  },
  'many items against many branches': {
    schema: { type: 'array', items: { anyOf: branches(1_000, (n) => ({ type: 'string', minLength: n + 2 })) } },
    value: list(60_000, () => 'a'),
  },
  'many items against one of many': {
    schema: { type: 'array', items: { oneOf: branches(500, (n) => ({ minimum: n })) } },
    value: list(60_000, () => 1),
  },
  'lists of lists of unions': {
    schema: nested(
      12,
      (inner) => ({
        anyOf: [
          { type: 'array', items: inner },
          { type: 'array', items: inner },
        ],
      }),
      {
        type: 'string',
      },
    ),
    value: nestedList(12, 1),
  },
  'maps of unions': {
    schema: {
      type: 'object',
      additionalProperties: { anyOf: branches(300, (n) => ({ type: 'object', required: [`x${n}`] })) },
    },
    value: Object.fromEntries(list(20_000, (n) => [`k${n}`, {}] as never) as never),
  },
  'empty objects against thousands of fields': {
    schema: { type: 'array', items: object(named(2_900, () => ({ type: 'string' }))) },
    value: list(80_000, () => ({})),
  },
  'unknown fields beside thousands of known ones': {
    schema: object(
      named(2_900, () => ({ type: 'string' })),
      { required: [] },
    ),
    value: Object.fromEntries(list(25_000, (n) => [`field_x${n}`, 1] as never) as never),
  },
  'names against many patterns': {
    schema: {
      type: 'object',
      patternProperties: Object.fromEntries(list(400, (n) => [`^(a|b){1,40}c${n}$`, {}] as never) as never),
    },
    value: Object.fromEntries(list(20_000, (n) => [`ab${n}`, 1] as never) as never),
  },
  'texts against a large pattern': {
    schema: { type: 'array', items: { type: 'string', pattern: '(x[a-z]{1,400}y){2}' } },
    value: list(20, () => `${'xabc'.repeat(3_000)}xaayxaay`),
  },
  'empty texts against a large pattern': {
    schema: { type: 'array', items: { type: 'string', pattern: '(?:a?){300}' } },
    value: list(80_000, () => ''),
  },
  'one text against many large patterns': {
    schema: { allOf: branches(30, (n) => ({ pattern: `(?:[a-z]?){${900 + n}}` })) },
    value: 'abc',
  },
  'long texts of two units a character': {
    schema: { type: 'array', items: { allOf: branches(200, (n) => ({ minLength: n, maxLength: 40_000 })) } },
    value: list(4, () => '😀'.repeat(30_000)),
  },
  'lists without repeats, in lists without repeats': {
    schema: nested(30, (inner) => ({ type: 'array', uniqueItems: true, items: inner }), {}),
    value: nestedList(30, list(8_000, (n) => ({ n, text: 'a' })) as never),
  },
  'unions of lists without repeats': {
    schema: { anyOf: branches(200, (n) => ({ type: 'array', uniqueItems: true, minItems: 60_000 + n })) },
    value: list(50_000, (n) => n),
  },
  'large choices of lists and objects': {
    schema: {
      type: 'array',
      items: { anyOf: branches(50, (n) => ({ enum: list(40, (m) => ({ a: n, b: [m, 'x'.repeat(50)] })) })) },
    },
    value: list(6_000, (n) => ({ a: n, b: [n, 'x'.repeat(20)] })),
  },
  'a text of thousands of letters as a format in many branches': {
    schema: { anyOf: branches(200, () => ({ type: 'string', format: 'uri', minLength: 9_000 })) },
    value: `http://a/${'a%41'.repeat(2_040)}`,
  },
  'texts that are nearly an address': {
    schema: { type: 'array', items: { type: 'string', format: 'email' } },
    value: list(900, () => `${'a.'.repeat(120)}a@${'b-'.repeat(5)}`),
  },
  'texts that are nearly a URL': {
    schema: { type: 'array', items: { type: 'string', format: 'uri' } },
    value: list(30, () => `http://${'a:'.repeat(4_000)}@[`),
  },
  'fields and items that nothing has looked at': {
    schema: nested(25, (inner) => ({ anyOf: [inner, inner], unevaluatedProperties: false }), {
      patternProperties: { '^a': {} },
    }),
    value: Object.fromEntries(list(15_000, (n) => [`a${n}`, n] as never) as never),
  },
  'items of which few must fit many branches': {
    schema: { type: 'array', contains: { anyOf: branches(400, (n) => ({ const: -n - 1 })) }, minContains: 2 },
    value: list(80_000, (n) => n),
  },
  'a default in each of many items': {
    schema: { type: 'array', items: object({ a: { type: 'string', default: 'x'.repeat(2_000) } }) },
    value: list(80_000, () => ({})),
  },
  'many defaults in each of many items': {
    schema: { type: 'array', items: object(named(2_900, (n) => ({ type: 'integer', default: n }))) },
    value: list(80_000, () => ({})),
  },
  'a value without end in depth': { schema: {}, value: nestedList(100_000, 1) },
};

function nestedList(levels: number, innermost: JsonValue): JsonValue {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function nestedObject(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}
