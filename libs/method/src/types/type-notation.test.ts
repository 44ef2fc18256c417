// Each row of the type notation, as its JSON Schema, and values it accepts and refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCheck } from '../check-value.ts';
import { compileMethod } from '../compile.ts';
import type { JsonSchema, JsonValue } from '../json.ts';

interface Row {
  /** YAML of the type, as written after `a: `. */
  readonly type: string;
  readonly schema: JsonValue;
  readonly good?: readonly JsonValue[];
  readonly bad?: readonly JsonValue[];
}

const TYPES = 'types:\n  Team: [red, blue]\n  Column: { name: string, share: number 0..1 = 0.5 }\n';

const ROWS: readonly Row[] = [
  { type: 'string', schema: { type: 'string' }, good: ['', 'x'], bad: [1, null, []] },
  {
    type: 'string 1..5',
    schema: { type: 'string', minLength: 1, maxLength: 5 },
    good: ['a', 'üüüüü'],
    bad: ['', 'aaaaaa'],
  },
  { type: 'string 2..', schema: { type: 'string', minLength: 2 }, bad: ['a'] },
  {
    type: 'string /^[A-Z]{3}$/',
    schema: { type: 'string', pattern: '^[A-Z]{3}$' },
    good: ['EUR'],
    bad: ['eur', 'EURO'],
  },
  {
    type: String.raw`string 1..20 /^\/srv\/v\d+$/`,
    schema: { type: 'string', minLength: 1, maxLength: 20, pattern: String.raw`^/srv/v\d+$` },
    good: ['/srv/v1'],
  },
  {
    type: 'text ..500 -- Shown to the customer',
    schema: { description: 'Shown to the customer', type: 'string', maxLength: 500, 'x-widget': 'textarea' },
  },
  { type: 'number', schema: { type: 'number' }, good: [1, 1.5], bad: ['1'] },
  { type: 'number 0..1', schema: { type: 'number', minimum: 0, maximum: 1 }, good: [0, 1], bad: [-0.1, 1.1] },
  { type: 'number >0..', schema: { type: 'number', exclusiveMinimum: 0 }, good: [0.1], bad: [0] },
  { type: 'number >0..<1', schema: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, bad: [1] },
  { type: 'number -1.5..2e3', schema: { type: 'number', minimum: -1.5, maximum: 2000 } },
  { type: 'integer ..10', schema: { type: 'integer', maximum: 10 }, good: [10], bad: [11, 1.5] },
  { type: 'boolean', schema: { type: 'boolean' }, good: [true], bad: ['true', 0] },
  { type: 'date', schema: { type: 'string', format: 'date' }, good: ['2024-02-29'], bad: ['2023-02-29', '2024-1-1'] },
  {
    type: 'datetime',
    schema: { type: 'string', format: 'date-time' },
    good: ['2024-01-01T10:00:00Z'],
    bad: ['2024-01-01', '2024-01-01T10:00:00'],
  },
  { type: 'time', schema: { type: 'string', format: 'time' }, good: ['10:00:00Z'], bad: ['25:00:00Z'] },
  {
    type: 'email',
    schema: { type: 'string', format: 'email' },
    good: ['a@b.co'],
    bad: ['a', `${'a'.repeat(300)}@b.co`],
  },
  { type: 'url', schema: { type: 'string', format: 'uri' }, good: ['https://a.example/x?y=1'], bad: ['a b'] },
  {
    type: 'uuid',
    schema: { type: 'string', format: 'uuid' },
    good: ['123e4567-e89b-12d3-a456-426614174000'],
    bad: ['123'],
  },
  { type: 'list<string>', schema: { type: 'array', items: { type: 'string' } }, good: [[], ['a']], bad: [['a', 1]] },
  {
    type: 'list<string 1..30> ..5',
    schema: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 30 }, maxItems: 5 },
    bad: [['']],
  },
  { type: 'string[] 1..', schema: { type: 'array', items: { type: 'string' }, minItems: 1 }, bad: [[]] },
  {
    type: 'list<list<integer>>',
    schema: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    good: [[[1], []]],
  },
  {
    type: 'map<integer> 1..',
    schema: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
    good: [{ constructor: 1 }],
    bad: [{ a: 'x' }, {}],
  },
  { type: 'any', schema: {}, good: [null, 1, { a: [1] }] },
  { type: 'object', schema: { type: 'object' }, good: [{ a: 1 }], bad: [[], null] },
  { type: 'Team', schema: { $ref: '#/$defs/Team' }, good: ['red'], bad: ['green'] },
  {
    type: 'Team | null',
    schema: { anyOf: [{ $ref: '#/$defs/Team' }, { type: 'null' }] },
    good: [null, 'red'],
    bad: ['x'],
  },
  { type: 'string | null', schema: { type: ['string', 'null'] }, good: [null, 'a'], bad: [1] },
  { type: 'string 1.. | null', schema: { type: ['string', 'null'], minLength: 1 }, good: [null], bad: [''] },
  { type: 'integer | boolean', schema: { type: ['integer', 'boolean'] }, good: [1, true], bad: ['x'] },
  {
    type: 'string 1..3 | integer',
    schema: { anyOf: [{ type: 'string', minLength: 1, maxLength: 3 }, { type: 'integer' }] },
    good: ['abc', 7],
    bad: ['abcd', 1.5],
  },
  { type: '[approve, reject]', schema: { enum: ['approve', 'reject'] }, good: ['approve'], bad: ['x'] },
  { type: '[1, 2, true, null]', schema: { enum: [1, 2, true, null] }, good: [1, null], bad: ['1'] },
  { type: 'list<[a, b]>', schema: { type: 'array', items: { enum: ['a', 'b'] } }, good: [['a']], bad: [['c']] },
  {
    type: '{ id: string, note?: text }',
    schema: {
      type: 'object',
      properties: { id: { type: 'string' }, note: { type: 'string', 'x-widget': 'textarea' } },
      required: ['id'],
      additionalProperties: false,
    },
    good: [{ id: 'a' }],
    bad: [{}, { id: 'a', other: 1 }],
  },
  {
    type: '"map<{ id: string, tags?: list<string> }>"',
    schema: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { id: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['id'],
        additionalProperties: false,
      },
    },
    good: [{ a: { id: 'x' } }],
  },
  {
    type: '[{ id: integer }]',
    schema: {
      type: 'array',
      items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false },
    },
    good: [[{ id: 1 }]],
  },
  {
    type: '{ $type: Team, $title: The team, $description: Who, $default: red, $examples: [blue] }',
    schema: { title: 'The team', description: 'Who', $ref: '#/$defs/Team', default: 'red', examples: ['blue'] },
  },
  {
    type: '{ $schema: { type: integer, multipleOf: 5 } }',
    schema: { type: 'integer', multipleOf: 5 },
    good: [10],
    bad: [3],
  },
  {
    type: "{ $schema: { $defs: { q: { pattern: '^a+$' } }, items: { $ref: '#/$defs/q' }, uniqueItems: true } }",
    schema: { items: { pattern: '^a+$' }, uniqueItems: true },
    good: [['a', 'aa']],
    bad: [['b'], ['a', 'a']],
  },
];

function inputSchema(fields: string): JsonSchema {
  const { method, diagnostics } = compileMethod(
    `format: method/2\nname: ab\n${TYPES}inputs:\n${fields}\nsteps:\n  - name: one\n    node: f()\n`,
  );
  assert.ok(method, JSON.stringify(diagnostics));
  return method.inputSchema;
}

function property(schema: JsonSchema, name: string): JsonValue | undefined {
  return (schema.properties as JsonSchema)[name];
}

for (const { type, schema, good = [], bad = [] } of ROWS) {
  test(`the type ${type} is its schema and checks values`, () => {
    const whole = inputSchema(`  a: ${type}`);
    assert.deepEqual(property(whole, 'a'), schema);
    const check = compileCheck(whole);
    for (const value of good) assert.deepEqual(check({ a: value }).ok, true, `takes ${JSON.stringify(value)}`);
    for (const value of bad) assert.equal(check({ a: value }).ok, false, `refuses ${JSON.stringify(value)}`);
  });
}

test('defaults are read as JSON, or as text where the type wants text, and make a field optional to give', () => {
  const schema = inputSchema(
    [
      '  a: integer = 3',
      '  b: string = 7',
      '  c: date = 2024-01-31 -- When',
      '  d: string = "x -- y" -- Words',
      '  e: string | null = null',
      '  f: list<integer> = [1, 2]',
      '  g?: string',
      '  h: number',
    ].join('\n'),
  );
  const check = compileCheck(schema)({ h: 1 });
  assert.deepEqual(check, {
    ok: true,
    value: { h: 1, a: 3, b: '7', c: '2024-01-31', d: 'x -- y', e: null, f: [1, 2] },
  });
  assert.deepEqual(schema.required, ['h']);
});

test('only the named types in use are under $defs', () => {
  assert.deepEqual(Object.keys(inputSchema('  a: list<Team>').$defs as JsonSchema), ['Team']);
  assert.equal(inputSchema('  a: string').$defs, undefined);
});

test('a file and a secret in an out have their own marks', () => {
  const { method } = compileMethod(
    'format: method/2\nname: ab\nsteps:\n  - name: one\n    node: f()\n    out: { report: file, token: secret }\n',
  );
  const out = method?.steps[0]?.out;
  assert.ok(out);
  const { properties } = out.schema as unknown as { properties: { report: JsonSchema; token: JsonSchema } };
  assert.equal(properties.report['x-type'], 'file');
  assert.deepEqual(Object.keys(properties.report.properties as JsonSchema), [
    'path',
    'bytes',
    'sha256',
    'media_type',
    'name',
    'file_id',
  ]);
  assert.deepEqual(properties.token, { type: 'string', 'x-secret': true });
  assert.deepEqual([out.hasFile, out.hasSecret], [true, true]);
});

const REFUSED: readonly (readonly [type: string, code: string])[] = [
  ['list', 'M302'],
  ['string[]?', 'M303'],
  ['array<string>', 'M302'],
  ['strin 1..2', 'M302'],
  ['string 1.5..2', 'M304'],
  ['integer 0.5..', 'M304'],
  ['string -1..', 'M304'],
  ['date 1..2', 'M304'],
  ['string /abc', 'M305'],
  ['string /a(?<=b)/', 'M305'],
  ['list<string', 'M301'],
  ['string extra', 'M301'],
  ['"list<[string]>"', 'M308'],
  ['[[a]]', 'M308'],
  ['[a, a]', 'M308'],
  ["'string = \"open'", 'M307'],
  ['{ $type: string, $defalt: x }', 'M101'],
  ['{ $title: x }', 'M102'],
  ['{ $schema: { $ref: "https://evil.example/x" } }', 'M301'],
  ['{ $schema: { $ref: "#" } }', 'M301'],
  ['{ $schema: { type: strin } }', 'M301'],
  ['{ $schema: { pattern: "(?=x)" } }', 'M301'],
  ['{ __proto__: string }', 'M203'],
  ['\'Column = { "name": "x" }\'', 'M311'],
];

for (const [type, code] of REFUSED) {
  test(`the type ${type} is refused with ${code}`, () => {
    const { method, diagnostics } = compileMethod(
      `format: method/2\nname: ab\n${TYPES}inputs:\n  a: ${type}\nsteps:\n  - name: one\n    node: f()\n`,
    );
    assert.equal(method, null);
    assert.ok(
      diagnostics.some((d) => d.code === code),
      JSON.stringify(diagnostics.map((d) => `${d.code} ${d.message}`)),
    );
  });
}
