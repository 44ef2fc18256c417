import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { TURN_EFFORT, type ValueCheck } from '@methods/method/check-value';
import { type JsonSchema, type JsonValue, objectOf } from '@methods/method/json';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { readForm } from './field.ts';
import { EVERY_KIND } from './form.fixture.ts';
import { readPostedAnswer } from './posted-answer.ts';
import { hasRows, rowsTyped, type Typed, typedValues } from './typed-values.ts';

const form = readForm(EVERY_KIND);

const FILLED: readonly (readonly [string, string])[] = [
  ['nonce', 'not a control'],
  ['/decision', '"approve"'],
  ['/sure', 'false'],
  ['/note', 'first\r\nsecond'],
  ['/count', '3'],
  ['/due', '2026-11-24T16:00'],
  ['/tags', 'red\r\n\r\nblue'],
  ['/teams', '"support"'],
  ['/teams', '"sales"'],
  ['/lines/7/item', 'pen'],
  ['/lines/2/item', 'ink'],
  ['/lines/2/amount', '2.5'],
  ['/lines/9/item', ' '],
  ['/address/city', 'Oslo'],
  ['/address/zip~1code', '0150'],
  ['/extra', '{"a":[1]}'],
  ['/channel', ''],
];

function posted(changes: readonly (readonly [string, string])[]) {
  const changed = new Set(changes.map(([name]) => name));
  return readPostedAnswer(form, [...FILLED.filter(([name]) => !changed.has(name)), ...changes]);
}

test('a posted page becomes an answer that fits', () => {
  const { answer, faults } = posted([]);
  deepEqual([...faults], []);
  deepEqual(answer, {
    decision: 'approve',
    sure: false,
    note: 'first\nsecond',
    count: 3,
    due: '2026-11-24T16:00:00Z',
    tags: ['red', 'blue'],
    teams: ['support', 'sales'],
    lines: [{ item: 'ink', amount: 2.5 }, { item: 'pen' }],
    address: { city: 'Oslo', 'zip/code': '0150' },
    extra: { a: [1] },
    channel: '',
  });
});

test('each fault is at its field, and typed values are kept', () => {
  const { faults, typed } = posted([
    ['/decision', '"perhaps"'],
    ['/sure', ''],
    ['/count', 'many'],
    ['/tags', 'a\nb\nc\nd'],
    ['/teams', '"none"'],
    ['/lines/2/amount', 'much'],
    ['/address/city', ''],
    ['/extra', '{'],
  ]);
  equal(faults.get('/decision'), 'is none of the choices');
  equal(faults.get('/sure'), 'needs a choice');
  ok(faults.has('/count') && faults.has('/tags') && faults.has('/teams') && faults.has('/extra'));
  // The rows keep their order and are numbered again.
  ok(faults.has('/lines/0/amount'));
  deepEqual(typed.get('/lines/0/amount'), ['much']);
  deepEqual(typed.get('/lines/1/item'), ['pen']);
  deepEqual(typed.get('/count'), ['many']);
});

test('an empty page names every field that needs a value', () => {
  const { faults } = readPostedAnswer(form, []);
  for (const at of ['/decision', '/sure', '/note', '/count', '/due', '/extra']) ok(faults.has(at), at);
  equal(faults.has('/channel'), false);
  equal(faults.has('/rate'), false);
});

test('an optional group is omitted while it is empty', () => {
  const group = {
    type: 'object',
    additionalProperties: false,
    required: ['city'],
    properties: { city: { type: 'string', minLength: 1 }, code: { type: 'string' } },
  };
  const optional = readForm({ type: 'object', properties: { address: group } });
  deepEqual(readPostedAnswer(optional, [['/address/city', '']]).answer, {});
  const half = readPostedAnswer(optional, [
    ['/address/city', ''],
    ['/address/code', '1'],
  ]);
  deepEqual([...half.faults.keys()], ['/address/city']);
});

test('a page takes 2,000 values', () => {
  const many = Array.from({ length: 6_000 }, (_, row) => [`/lines/${row}/item`, 'x'] as const);
  const { answer, faults } = readPostedAnswer(form, [...FILLED, ...many]);
  match(faults.get('') ?? '', /more than 2000 values/);
  ok((answer.lines as unknown[]).length < 6_000);
});

test('hostile names and values never throw and never add a field', () => {
  const names = fc.oneof(
    fc.constantFrom(
      '/__proto__',
      '/constructor/prototype',
      '/lines/__proto__/item',
      '/lines/999999999/item',
      '//',
      '/',
      '/decision/x',
    ),
    fc.string({ maxLength: 40 }).map((text) => `/${text}`),
  );
  const known = new Set(form.fields.map(({ name }) => name));
  fc.assert(
    fc.property(fc.array(fc.tuple(names, fc.string()), { maxLength: 20 }), (entries) => {
      const { answer } = readPostedAnswer(form, entries);
      for (const name of Object.keys(answer)) ok(known.has(name), name);
    }),
    { numRuns: 200 },
  );
});

const WITH_DEFAULTS: JsonSchema = {
  type: 'object',
  properties: {
    channel: { type: 'string', default: 'mail' },
    team: { enum: ['sales', 'support'], default: 'support' },
    tags: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
    teams: { type: 'array', items: { enum: ['sales', 'support'] }, default: ['sales'] },
    count: { type: ['integer', 'null'], default: 3 },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { item: { type: 'string' }, amount: { type: 'number', default: 1 } },
      },
      default: [{ item: 'pen' }, {}],
    },
  },
};

test('controls show the defaults first, and unchanged ones are omitted', () => {
  const withDefaults = readForm(WITH_DEFAULTS);
  const typed = typedValues(withDefaults);
  deepEqual(Object.fromEntries(typed), {
    '/channel': ['mail'],
    '/team': ['"support"'],
    '/tags': ['a\nb'],
    '/teams': ['', '"sales"'],
    '/count': ['3'],
    '/lines': [''],
    '/lines/0/item': ['pen'],
    '/lines/0/amount': ['1'],
    '/lines/1/amount': ['1'],
  });
  equal(rowsTyped(typed).get('/lines'), 2);
  const lines = withDefaults.fields.find(({ name }) => name === 'lines');
  ok(lines?.kind === 'list' && hasRows(lines));
  const again = readPostedAnswer(withDefaults, entriesOf(typed));
  deepEqual([...again.faults], []);
  deepEqual(again.answer, {});
  deepEqual(again.filled, readForm(WITH_DEFAULTS).check({}).ok && filledOf(withDefaults.check({})));
  deepEqual(again.typed, typed);
});

test('a value that a person removes does not come back as its default', () => {
  const withDefaults = readForm(WITH_DEFAULTS);
  const emptied = entriesOf(typedValues(withDefaults)).map(([name]) => [name, ''] as const);
  const { answer, faults } = readPostedAnswer(withDefaults, emptied);
  deepEqual([...faults], []);
  deepEqual(answer, { channel: '', tags: [], teams: [], count: null, lines: [] });
});

test('text that is not a JSON number is a fault', () => {
  for (const text of ['1e999', '9'.repeat(400)]) {
    const { faults } = readPostedAnswer(readForm({ properties: { n: { type: 'number' } } }), [['/n', text]]);
    equal(faults.get('/n'), 'must be a number');
  }
});

test('the fault of a field with a very long name is at the field', () => {
  const name = 'x'.repeat(150);
  const properties = { [name]: { type: 'integer' }, [`${name}y`]: { type: 'string' } };
  const { faults } = readPostedAnswer(readForm({ type: 'object', properties }), [[`/${name}`, 'many']]);
  // Findings cut the name, and either field may be meant.
  equal(faults.size, 1);
  ok([`/${name}`, `/${name}y`].includes([...faults.keys()][0] ?? ''));
});

test('a page with 10,000 posted values costs a bounded amount of time', () => {
  const many = Array.from({ length: 10_000 }, (_, row) => [`/lines/${row}/item`, 'x'.repeat(90)] as const);
  const spentMs = leastCpuMs(40, () => readPostedAnswer(form, [...FILLED, ...many], TURN_EFFORT));
  ok(spentMs < 40, `${spentMs} ms`);
});

const NAME = fc.oneof(fc.constantFrom('a', 'b/c', 'd~e', '__proto__', 'constructor', ' '), fc.string({ minLength: 1 }));
const LINE = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== '' && !/[\r\n]/.test(text));

/** A schema, and values of it that its controls can express exactly. */
type Kind = { readonly schema: JsonSchema; readonly value: fc.Arbitrary<JsonValue> };

const SIMPLE: fc.Arbitrary<Kind> = fc.oneof(
  fc.constant({ schema: { type: 'string' }, value: LINE }),
  fc.constant({ schema: { type: 'string', 'x-widget': 'textarea' }, value: LINE }),
  fc.constant({ schema: { type: 'integer' }, value: fc.integer() }),
  fc.constant({
    schema: { type: ['number', 'null'] },
    value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  }),
  fc.constant({ schema: { type: 'boolean' }, value: fc.boolean() }),
  fc
    .uniqueArray(fc.oneof(LINE, fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 5 })
    .filter(([first]) => first !== null)
    .map((choices) => ({ schema: { enum: choices }, value: fc.constantFrom<JsonValue>(...choices) })),
  fc.constant({
    schema: { type: 'object' },
    value: fc.dictionary(NAME, fc.integer(), { maxKeys: 3, noNullPrototype: true }),
  }),
);

const KIND: fc.Arbitrary<Kind> = fc.letrec<{ kind: Kind }>((tie) => ({
  kind: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: SIMPLE },
    {
      weight: 1,
      arbitrary: SIMPLE.map(({ schema, value }) => ({
        schema: { type: 'array', items: schema },
        value: fc.array(value, { minLength: 1, maxLength: 4 }),
      })),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('kind'), { minLength: 1, maxLength: 3 }).map((kinds) => ({
        schema: {
          type: 'object',
          additionalProperties: false,
          required: kinds.map((_, at) => `f${at}`),
          properties: Object.fromEntries(kinds.map(({ schema }, at) => [`f${at}`, schema])),
        },
        value: fc.record(Object.fromEntries(kinds.map(({ value }, at) => [`f${at}`, value])), {
          noNullPrototype: true,
        }),
      })),
    },
  ),
})).kind;

const FORM = fc
  .uniqueArray(fc.tuple(NAME, KIND, fc.boolean()), { maxLength: 6, selector: ([name]) => name })
  .chain((fields) => {
    const value = fc.tuple(...fields.map(([, { value }]) => value));
    return value.map((values) => ({
      fields,
      answer: objectOf(fields.map(([name], at) => [name, values[at] ?? null])),
    }));
  });

test('an answer that is typed as its controls show it is the same answer', () => {
  fc.assert(
    fc.property(FORM, ({ fields, answer }) => {
      const properties = objectOf(fields.map(([name, { schema }]) => [name, schema]));
      const required = fields.filter(([, , isRequired]) => isRequired).map(([name]) => name);
      const any = readForm({ type: 'object', additionalProperties: false, properties, required });
      const { filled, faults } = readPostedAnswer(any, entriesOf(typedValues(any, answer)));
      deepEqual([...faults], []);
      deepEqual(filled, answer);
    }),
    { numRuns: 150 },
  );
});

test('the defaults of any form, shown and posted back, are the answer given without any value', () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('', '\r', 'a\r\nb', ' ', null, [''], [{}], {}));
  const field = fc.tuple(NAME, KIND, fc.option(value as fc.Arbitrary<JsonValue>));
  fc.assert(
    fc.property(fc.uniqueArray(field, { maxLength: 6, selector: ([name]) => name }), (fields) => {
      const properties = objectOf(
        fields.map(([name, { schema }, given]) => [name, given === null ? schema : { ...schema, default: given }]),
      );
      const any = readForm({ type: 'object', additionalProperties: false, properties });
      const posted = readPostedAnswer(any, entriesOf(typedValues(any)));
      deepEqual(posted.answer, {});
      deepEqual(posted.filled, filledOf(any.check({})));
    }),
    { numRuns: 150 },
  );
});

/** As a browser sends what a page shows. */
function entriesOf(typed: Typed): (readonly [string, string])[] {
  return [...typed].flatMap(([name, texts]) => texts.map((text) => [name, text.replace(/\r\n?|\n/g, '\r\n')] as const));
}

function filledOf(checked: ValueCheck): JsonValue {
  return checked.ok ? checked.value : null;
}
