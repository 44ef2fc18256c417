// Times are compared by the moment they mean, and texts are never cut inside of a character.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';
import { evaluate } from '../evaluate.ts';
import type { JsonObject, JsonValue } from '../json.ts';

const FIELDS = `inputs:
  a: datetime
  b: datetime
  same: datetime
  maybe?: datetime
  day: date
  t: time
  u: time
  s: string
  open: any
  list: list<datetime>
  rows: "list<{ at: datetime, id: string }>"
`;
const INPUTS: JsonObject = {
  a: '2026-01-01T00:30:00+02:00',
  b: '2025-12-31T23:00:00Z',
  same: '2025-12-31T22:30:00.000Z',
  day: '2026-01-01',
  t: '00:30:00+02:00',
  u: '23:00:00Z',
  s: '2025-12-31T17:30:00-05:00',
  open: '2025-12-31T22:30:00z',
  list: ['2026-01-01T00:30:00+02:00', '2025-12-31T23:00:00Z', '2025-12-31T22:30:00Z', '2025-12-31T22:30:00.00001Z'],
  rows: [
    { at: '2026-01-01T00:30:00+02:00', id: 'r' },
    { at: '2025-12-31T22:00:00Z', id: 'q' },
  ],
};

function compileResult(expression: string) {
  return compileMethod(
    `format: method/2\nname: moments\n${FIELDS}steps:\n  - { name: s, wait: 1s }\nresult: { x: ${JSON.stringify(`=${expression}`)} }\n`,
  );
}

function run(expression: string, inputs: JsonObject = INPUTS): JsonValue {
  const { method, diagnostics } = compileResult(expression);
  const value = method?.result.get('x');
  assert.ok(value, JSON.stringify(diagnostics));
  const scope = { inputs, run: { id: 'run_1', started_at: '2025-12-31T22:45:00.000Z', version_id: 'v' }, steps: {} };
  return evaluate(value, scope);
}

const HOLDS = [
  'inputs.a < inputs.b && inputs.b > inputs.a',
  'inputs.a <= inputs.b && !(inputs.a >= inputs.b)',
  'inputs.a == inputs.same && !(inputs.a != inputs.same)',
  'inputs.a <= inputs.same && inputs.a >= inputs.same',
  'inputs.a == inputs.s && inputs.s == inputs.a && inputs.a == inputs.open',
  'inputs.a < run.started_at && run.started_at < inputs.b',
  'inputs.a < "2025-12-31T23:00Z" && "2025-12-31T23:00:00Z" > inputs.a',
  'inputs.a < inputs.day && inputs.a < "2026-01-01"',
  'inputs.t < inputs.u && inputs.t == "22:30:00Z" == false',
  'inputs.list.includes("2025-12-31T23:30:00+00:30") && inputs.list.indexOf(inputs.b) == 1',
  'inputs.rows[0] == { at: inputs.same, id: "r" } && [inputs.a] == [inputs.same]',
  '(inputs.maybe ?? inputs.a) == inputs.same',
  'inputs.list.filter(x => x < inputs.b).length == 3',
  '(inputs.list[3] ?? inputs.b) > inputs.same && (inputs.list[3] ?? inputs.b) < "2025-12-31T22:30:00.00002Z"',
  'timestamp(inputs.a) == timestamp(inputs.same) && timestamp("2025-12-31T23:59:60Z") == timestamp("2026-01-01")',
];
for (const expression of HOLDS) test(`${expression} holds`, () => assert.equal(run(expression), true));

test('sort and unique go by moments', () => {
  assert.deepEqual(run('sort(inputs.rows, r => r.at).map(r => r.id)'), ['q', 'r']);
  assert.deepEqual(
    run('unique(inputs.list)'),
    (INPUTS.list as string[]).filter((_, i) => i !== 2),
  );
  assert.deepEqual(run('sort(inputs.list).slice(-1)'), ['2025-12-31T23:00:00Z']);
  assert.deepEqual(run('unique(inputs.rows.map(r => { at: r.at })).length'.replace('{ at: r.at }', '[r.at]')), 2);
});

test('a text that is not a time is refused beside one, when checked or while running', () => {
  for (const expression of ['inputs.a < "tomorrow"', '"2026" <= inputs.a', 'inputs.a > "2026-02-30"']) {
    assert.deepEqual(
      compileResult(expression).diagnostics.map(({ code }) => code),
      ['M406'],
      expression,
    );
  }
  assert.throws(() => run('inputs.a < inputs.s', { ...INPUTS, s: 'tomorrow' }), /is not a time/);
  assert.equal(run('inputs.a == inputs.s', { ...INPUTS, s: 'tomorrow' }), false);
  assert.equal(run('inputs.s < "b"', { ...INPUTS, s: 'a' }), true);
});

test('texts are never cut inside of a character', () => {
  const texts: Record<string, JsonValue> = {
    'inputs.s.slice(0, 2)': 'a',
    'inputs.s.slice(2)': '🔑b🔑',
    'inputs.s.slice(0, 2) + inputs.s.slice(2)': 'a🔑b🔑',
    'inputs.s.slice(-1)': '🔑',
    'inputs.s.slice(-3, -1)': 'b',
    'inputs.s.slice(1.5, 3)': '🔑',
    'inputs.s.slice(0, 99)': 'a🔑b🔑',
    'inputs.s.split("")': ['a', '🔑', 'b', '🔑'],
    'inputs.s.replaceAll("", "-")': 'a-🔑-b-🔑',
    '"x".padStart(4, inputs.s.slice(1))': '🔑bx',
    '"x".padStart(3, inputs.s)': 'ax',
    '"x".padStart(2, inputs.s.slice(1))': 'x',
  };
  for (const [expression, wanted] of Object.entries(texts)) {
    assert.deepEqual(run(expression, { ...INPUTS, s: 'a🔑b🔑' }), wanted, expression);
  }
});
