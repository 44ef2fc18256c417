// Expressions: values, static types, narrowing, and what fails while running.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';
import { ExpressionError, evaluate, type Scope } from '../evaluate.ts';
import type { JsonValue } from '../json.ts';

const FIELDS = `inputs:
  n: number
  whole: integer
  s: string
  maybe?: string
  flag: boolean
  kind: [red, blue]
  list: list<integer>
  rows: "list<{ id: string, count: integer | null }>"
  counts: map<integer>
  anything: any
`;
const INPUTS = {
  n: 2.5,
  whole: 7,
  s: 'Héllo',
  flag: true,
  kind: 'red',
  list: [3, 1, 2],
  rows: [
    { id: 'b', count: 2 },
    { id: 'a', count: null },
  ],
  counts: { x: 1 },
  anything: { deep: [{ v: 1 }], text: 't' },
};
const SCOPE: Scope = {
  inputs: INPUTS,
  run: { id: 'run_1', started_at: '2026-01-01T00:00:00Z', version_id: 'ver_1' },
  steps: { one: { ok: true } },
};

function compileResult(expression: string) {
  const source = `format: method/2\nname: ab\n${FIELDS}steps:\n  - name: one\n    node: f()\n    out: { ok: boolean }\nresult:\n  x: ${JSON.stringify(`=${expression}`)}\n`;
  return compileMethod(source);
}

function run(expression: string, scope: Scope = SCOPE): JsonValue {
  const { method, diagnostics } = compileResult(expression);
  const value = method?.result.get('x');
  assert.ok(value, `${expression}: ${JSON.stringify(diagnostics.map((d) => `${d.code} ${d.message}`))}`);
  return evaluate(value, scope);
}

const VALUES: readonly (readonly [expression: string, value: JsonValue])[] = [
  ['1 + 2 * 3 - 4 / 2', 5],
  ['(1 + 2) * 3 % 4', 1],
  ['-inputs.n * 2', -5],
  ['10 - 4 - 3', 3],
  ['"a" + inputs.s', 'aHéllo'],
  ['`${inputs.s} ${inputs.whole} ${inputs.flag}`', 'Héllo 7 true'],
  ['inputs.n > 2 && !(inputs.whole < 7)', true],
  ['inputs.kind == "blue" || inputs.flag', true],
  ['inputs.list == [3, 1, 2]', true],
  ['{ a: 1, b: [2] } == { b: [2], a: 1 }', true],
  ['inputs.maybe', null],
  ['inputs.maybe ?? "none"', 'none'],
  ['inputs.maybe?.length', null],
  ['inputs.maybe != null && inputs.maybe.length > 1', false],
  ['inputs.maybe == null || inputs.maybe.length > 1', true],
  ['inputs.maybe != null ? inputs.maybe.length : 0', 0],
  ['inputs.maybe == null ? "none" : inputs.maybe.toUpperCase()', 'none'],
  ['inputs.list[0] ?? 9', 3],
  ['inputs.list[9]', null],
  ['inputs.counts.x ?? 0', 1],
  ['inputs.counts["y"] ?? 0', 0],
  ['inputs.anything.deep[0].v', 1],
  ['inputs.anything.nope?.x.y', null],
  ['inputs.anything.constructor', null],
  ['inputs.counts.toString', null],
  ['inputs.list.length', 3],
  ['inputs.list.filter(x => x > 1).map((x, i) => x * i)', [0, 2]],
  ['inputs.list.flatMap(x => [x, x])', [3, 3, 1, 1, 2, 2]],
  ['inputs.rows.find(r => r.id == "a")?.count ?? -1', -1],
  ['inputs.rows.map(r => r.count).filter(c => c != null).map(c => c + 1)', [3]],
  ['inputs.list.some(x => x == 3)', true],
  ['inputs.list.every(x => x > 1)', false],
  ['inputs.list.includes(2)', true],
  ['inputs.list.indexOf(2)', 2],
  ['inputs.rows.map(r => r.id).join("-")', 'b-a'],
  ['inputs.list.slice(1)', [1, 2]],
  ['inputs.list.concat([9])', [3, 1, 2, 9]],
  ['[[1], [2, 3]].flat()', [1, 2, 3]],
  ['[0, ...inputs.list]', [0, 3, 1, 2]],
  ['inputs.s.includes("llo") && inputs.s.startsWith("H") && inputs.s.endsWith("o")', true],
  ['inputs.s.toLowerCase() + inputs.s.toUpperCase()', 'hélloHÉLLO'],
  ['"  x ".trim()', 'x'],
  ['"a,b".split(",")', ['a', 'b']],
  ['"abc".slice(1, 2)', 'b'],
  ['"aba".replaceAll("a", "xx")', 'xxbxx'],
  ['text(inputs.whole).padStart(3, "0")', '007'],
  ['"ord_1".matches("^ord_[a-z0-9]+$")', true],
  ['round(1.005, 2)', 1.01],
  ['round(-2.5)', -3],
  ['round(2.4)', 2],
  ['floor(2.7) + ceil(2.1) + abs(-1)', 6],
  ['sum(inputs.list)', 6],
  ['min(inputs.list) ?? 0', 1],
  ['max(1, inputs.whole, 3)', 7],
  ['min([1].filter(x => x > 5))', null],
  ['unique([1, 2, 1])', [1, 2]],
  ['sort(inputs.list)', [1, 2, 3]],
  ['sort(inputs.rows, r => r.id).map(r => r.id)', ['a', 'b']],
  ['sort(inputs.list, x => -x)', [3, 2, 1]],
  ['keys(inputs.counts)', ['x']],
  ['values(inputs.counts)', [1]],
  ['json({ a: inputs.list })', '{"a":[3,1,2]}'],
  ['text(true)', 'true'],
  ['number(" 12.5 ")', 12.5],
  ['timestamp("2024-01-01")', 1_704_067_200_000],
  ['timestamp("2024-01-01T01:00:00+01:00")', 1_704_067_200_000],
  ['run.id', 'run_1'],
  ['steps.one.ok', true],
];

for (const [expression, value] of VALUES) {
  test(`${expression} is ${JSON.stringify(value)}`, () => assert.deepEqual(run(expression), value));
}

const TYPES: readonly (readonly [expression: string, schema: JsonValue])[] = [
  ['inputs.whole + 1', { type: 'integer' }],
  ['inputs.whole / 2', { type: 'number' }],
  ['inputs.maybe', { type: ['string', 'null'] }],
  ['inputs.maybe ?? "x"', { type: 'string' }],
  ['inputs.flag ? "a" : "b"', { enum: ['a', 'b'] }],
  ['inputs.rows.find(r => r.id == "a")?.id', { type: ['string', 'null'] }],
  ['inputs.rows.map(r => r.count).filter(c => c != null)', { type: 'array', items: { type: 'integer' } }],
  ['inputs.anything.x', {}],
  [
    '{ a: inputs.list }',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'integer' } } },
      required: ['a'],
      additionalProperties: false,
    },
  ],
];

for (const [expression, schema] of TYPES) {
  test(`the static type of ${expression} is ${JSON.stringify(schema)}`, () => {
    const { method } = compileResult(expression);
    assert.deepEqual((method?.resultSchema.properties as { x: JsonValue } | undefined)?.x, schema);
  });
}

const REFUSED: readonly (readonly [expression: string, code: string])[] = [
  ['inputs.maybe.length', 'M405'],
  ['inputs.maybe != null || inputs.maybe.length > 1', 'M405'],
  ['inputs.list[0] + 1', 'M405'],
  ['inputs.rows.map(r => r.count + 1)', 'M405'],
  ['inputs.rows.find(r => r.id == "a").id', 'M405'],
  ['inputs.s + 1', 'M406'],
  ['inputs.s > 1', 'M406'],
  ['inputs.s == 1', 'M406'],
  ['inputs.list.includes("a")', 'M406'],
  ['round(inputs.s)', 'M406'],
  ['round()', 'M406'],
  ['inputs.kind == "green"', 'M408'],
  ['inputs.s ? 1 : 2', 'M404'],
  ['inputs.list.filter(x => x)', 'M404'],
  ['`${inputs.list}`', 'M407'],
  ['inputs.rows.join()', 'M407'],
  ['inputs.list.push(1)', 'M403'],
  ['inputs.constructor', 'M202'],
  ['inputs.s.length.x', 'M406'],
  ['constructor', 'M403'],
  ['globalThis', 'M403'],
  ['eval("1")', 'M403'],
  ['inputs.s = "x"', 'M402'],
  ['new Date()', 'M402'],
  ['function () {}', 'M402'],
  ['this', 'M402'],
  ['inputs.s === "x"', 'M402'],
  ['/x/', 'M402'],
  ['typeof inputs.s', 'M402'],
  ['"a" in inputs.counts', 'M402'],
  ['import("fs")', 'M402'],
  ['inputs.s, inputs.n', 'M402'],
  ['inputs.list.map(inputs => 1)', 'M204'],
  ['inputs.n) + (1', 'M401'],
  ['inputs.n; 1', 'M401'],
  ['inputs.n and true', 'M401'],
  ['', 'M401'],
];

for (const [expression, code] of REFUSED) {
  test(`${expression || '(nothing)'} is refused with ${code}`, () => {
    const { method, diagnostics } = compileResult(expression);
    assert.equal(method, null);
    assert.deepEqual(
      diagnostics.map((d) => d.code),
      [code],
    );
  });
}

const FAILS: readonly (readonly [expression: string, message: RegExp])[] = [
  ['inputs.whole / (inputs.whole - 7)', /divides by zero/],
  ['inputs.anything.nope.x', /inputs\.anything\.nope is null/],
  ['inputs.anything.nope[0]', /inputs\.anything\.nope is null/],
  ['inputs.anything.nope.trim()', /inputs\.anything\.nope is null/],
  ['inputs.anything.text + 1', /is text|not text/],
  ['inputs.anything.text * 2', /is text, not a number/],
  ['inputs.anything ? 1 : 2', /not true or false/],
  ['number(inputs.s)', /not a number in text/],
  ['timestamp("2024-01-01T00:00:00")', /not a date/],
  ['1e300 * 1e300', /not a finite number/],
  ['`${inputs.anything.deep}`', /no text form/],
  ['"a".padStart(100000000)', /at most 1048576 characters/],
  [
    '[1,2,3,4,5,6,7,8,9,10].flatMap(a => [1,2,3,4,5,6,7,8,9,10].flatMap(b => [1,2,3,4,5,6,7,8,9,10].flatMap(c => [1,2,3,4,5,6,7,8,9,10].flatMap(d => [1,2,3,4,5,6,7,8,9,10].map(e => a)))))',
    /more than 200000 steps/,
  ],
  [
    '"aaaaaaaaaaaaaaaa".replaceAll("a", "bbbbbbbbbbbbbbbb").replaceAll("b", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb").replaceAll("b", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb").replaceAll("b", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")',
    /characters|steps/,
  ],
];

for (const [expression, message] of FAILS) {
  test(`${expression.slice(0, 60)} fails while running, without naming any value`, () => {
    assert.throws(
      () => run(expression),
      (error: unknown) =>
        error instanceof ExpressionError &&
        error.kind === 'expression' &&
        message.test(error.message) &&
        !error.message.includes('Héllo'),
    );
  });
}

test('a value nested beyond the stack fails as an expression error', () => {
  let deep: JsonValue = [];
  for (let level = 0; level < 50_000; level++) deep = [deep];
  const scope = { ...SCOPE, inputs: { ...INPUTS, anything: deep } };
  assert.throws(() => run('json(inputs.anything)', scope), ExpressionError);
  assert.throws(() => run('inputs.anything == [inputs.anything]', scope), ExpressionError);
});

test('the paths an expression reads are kept, the longest ones only', () => {
  const value = compileResult('inputs.anything.deep[0].v + sum(inputs.list.map(x => x + inputs.n))').method?.result.get(
    'x',
  );
  assert.ok(value?.kind === 'expression');
  assert.deepEqual(value.paths, ['inputs.anything.deep.0.v', 'inputs.list', 'inputs.n']);
});
