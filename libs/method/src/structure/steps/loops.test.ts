// `each` and `repeat`: what they go over, under which names, how often.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { evaluate } from '../../evaluate.ts';

const RUN = { id: 'run_1', started_at: '2026-01-01T00:00:00Z', version_id: 'ver_1' };
const each = (list: string, more = ''): string =>
  `steps:\n  - name: a\n    each: ${list}\n${more}    node: f()\n    out: { n: integer }\n`;
const repeat = (given: string, more = ''): string =>
  `steps:\n  - name: a\n    repeat: ${given}\n${more}    node: f()\n    out: { n: integer }\n`;

test('each needs a list (M501)', () => {
  assert.deepEqual(found(each('inputs.count')), ['M501 3:11-23']);
  assert.match(hintOf('M501', each('inputs')), /values\(inputs\)/);
  assert.deepEqual(found(each('[1, 2]')), ['M501 3:11-17']);
  assert.match(hintOf('M501', each('[1, 2]')), /in quotes/);
  assert.deepEqual(codesOf(each('"[1, 2].map(x => x + 1)"')), []);
  assert.deepEqual(codesOf(each('=inputs.ids.filter(id => id != "")')), []);
  const nullable = 'steps:\n  - name: z\n    if: inputs.flag\n    node: f()\n    out: { l: list<string> }\n';
  assert.match(hintOf('M405', `${nullable}${each('steps.z?.l').slice(7)}`), /\?\? \[\]/);
});

test('the name of an item is usable in code and means one thing (M203, M204)', () => {
  assert.deepEqual(found(each('inputs.ids', '    as: class\n')), ['M203 4:9-14']);
  assert.deepEqual(codesOf(each('inputs.ids', '    as: last\n')), ['M203']);
  assert.deepEqual(codesOf(each('inputs.ids', '    as: steps\n')), ['M203']);
  const nested = (more: string) =>
    `steps:\n  - name: g\n    each: inputs.ids\n    steps:\n      - name: a\n        each: inputs.ids\n${more}        node: f()\n`;
  assert.deepEqual(found(nested('')), ['M204 6:9-13']);
  assert.match(hintOf('M204', nested('')), /as: …/);
  assert.deepEqual(codesOf(nested('        as: other\n')), []);
});

test('at_once is 1 to 50, and needs each as as does (M803, M111)', () => {
  assert.deepEqual(found(each('inputs.ids', '    at_once: 51\n')), ['M803 4:14-16']);
  assert.match(hintOf('M803', each('inputs.ids', '    at_once: 51\n')), /at_once: 50/);
  const without = 'steps:\n  - name: a\n    as: id\n    at_once: 2\n    node: f()\n';
  assert.deepEqual(found(without), ['M111 3:5-7', 'M111 4:5-12']);
});

test('repeat needs until and a bound on its rounds (M102, M502, M803)', () => {
  assert.deepEqual(found(repeat('{ until: out.n == 1 }')), ['M502 3:5-11']);
  assert.match(hintOf('M502', repeat('{ until: out.n == 1 }')), /max: 100/);
  assert.deepEqual(found(repeat('{ max: 3 }')), ['M102 3:5-11']);
  assert.deepEqual(found(repeat('{ until: out.n == 1, max: 1001 }')), ['M803 3:39-43']);
  assert.deepEqual(found(repeat('{ until: out.n == 1, max: 3, delay: 5 }')), ['M801 3:49-50']);
  assert.deepEqual(found(repeat('{ until: out.n == 1, times: 3 }')), ['M502 3:5-11', 'M101 3:34-39']);
  assert.deepEqual(codesOf(repeat('5')), ['M502']);
});

test('until is a condition over out and last (M404, M403, M405)', () => {
  assert.deepEqual(codesOf(repeat('{ until: out.n, max: 3 }')), ['M404']);
  assert.deepEqual(codesOf(repeat('{ until: out.m == 1, max: 3 }')), ['M403']);
  assert.deepEqual(codesOf(repeat('{ until: last.n == out.n, max: 3 }')), ['M405']);
  assert.deepEqual(codesOf(repeat('{ until: last?.n == out.n, max: 3 }')), []);
  assert.deepEqual(codesOf(repeat('{ until: out.n == 1, max: 3 }', '    on_error: continue\n')), []);
});

test('each and repeat exclude each other (M503)', () => {
  const both = each('inputs.ids', '    repeat: { until: out.n == 1, max: 3 }\n');
  assert.deepEqual(found(both), ['M503 4:5-11']);
  assert.match(hintOf('M503', both), /group/);
});

test('if sees the item of each, but not last of its own repeat', () => {
  assert.deepEqual(codesOf(each('inputs.ids', '    if: item != ""\n')), []);
  assert.deepEqual(codesOf(repeat('{ until: out.n == 1, max: 3 }', '    if: last == null\n')), ['M403']);
});

test('last of a group knows the names of its result', () => {
  const source = (cursor: string) =>
    `steps:\n  - name: g\n    repeat: { until: out.next == null, max: 3 }\n    steps:\n      - name: a\n        http: { get: https://a.example, query: { c: =${cursor} } }\n        out: { next: string | null }\n    result: { next: =steps.a.next }\n`;
  assert.deepEqual(codesOf(source('last?.next')), []);
  assert.deepEqual(codesOf(source('last?.nxt')), ['M403']);
  assert.deepEqual(codesOf(source('last.next')), ['M405']);
});

test('the compiled loops read their names from the scope', () => {
  const method = compiled(
    'steps:\n  - name: a\n    repeat: { until: out.n >= (last?.n ?? 0), max: 7, delay: 1s500ms }\n    node: f()\n    out: { n: integer }\n' +
      '  - name: b\n    each: steps.a\n    as: round_a\n    if: round_a.n > 1\n    node: f(round_a)\n    in: [round_a]\n',
  );
  const { loop } = stepIn(method, 'a', 'node');
  assert.ok(loop?.kind === 'repeat');
  assert.deepEqual([loop.roundsMax, loop.delayMs], [7, 1_500]);
  const scope = { inputs: {}, run: RUN, steps: {} };
  assert.equal(evaluate(loop.until, { ...scope, out: { n: 1 }, last: { n: 2 } }), false);
  assert.equal(evaluate(loop.until, { ...scope, out: { n: 1 }, last: null }), true);
  const b = stepIn(method, 'b', 'node');
  assert.ok(b.condition);
  assert.equal(evaluate(b.condition, { ...scope, items: { round_a: { n: 2 } } }), true);
});
