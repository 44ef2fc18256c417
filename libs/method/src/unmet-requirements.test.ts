// A server's check of a method's own `require` before a run exists, and its cost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileMethod } from './compile.ts';
import type { JsonObject } from './json.ts';
import { unmetRequirements } from './unmet-requirements.ts';

const CPU_MS_MAX = 150;

function requiring(expressions: readonly string[]) {
  const checks = expressions.map((expression, n) => `  - C${n}: ${JSON.stringify(expression)}\n`).join('');
  const { method, diagnostics } = compileMethod(
    `format: method/2\nname: ab\ninputs: { n: integer, l: list<integer>, t: list<string>, a: string, b: string, s: string }\nrequire:\n${checks}steps:\n  - name: one\n    node: f()\n`,
  );
  assert.ok(method, JSON.stringify(diagnostics));
  return method;
}

const SMALL = { n: 1, l: [1], t: ['a'], a: '', b: '', s: '' };
// As they come from JSON: equal texts are not the same text.
const LARGE = JSON.parse(
  JSON.stringify({
    n: 1,
    l: Array.from({ length: 40_000 }, (_, n) => n),
    t: Array.from({ length: 8_000 }, (_, n) => `abcdefghij${n}`),
    a: `${'a'.repeat(50_000)}b`,
    b: `${'a'.repeat(50_000)}b`,
    s: `${' '.repeat(50_000)}1`,
  }),
) as JsonObject;

test('the sentences of the checks that inputs do not meet are given, in order', () => {
  assert.deepEqual(unmetRequirements(requiring(['inputs.n > 1', 'inputs.n == 1', '1 / (inputs.n - 1) > 0']), SMALL), [
    'C0',
    'C2',
  ]);
});

test('checks that the fuel of all together does not reach are left to the run', () => {
  const costly = Array.from({ length: 20 }, () => 'inputs.l.every(x => x >= 0)');
  assert.deepEqual(unmetRequirements(requiring([...costly, 'inputs.n > 1']), LARGE), []);
  assert.deepEqual(unmetRequirements(requiring(['inputs.n > 1', ...costly]), LARGE), ['C0']);
});

test('a check that takes more than any expression may is not met', () => {
  const twice = 'inputs.l.every(x => inputs.l.every(y => x + y >= 0))';
  assert.deepEqual(unmetRequirements(requiring([twice]), LARGE), ['C0']);
});

for (const expression of [
  'inputs.l.every(x => inputs.a == inputs.b)',
  'inputs.l.every(x => inputs.a <= inputs.b)',
  'inputs.l.every(x => number(inputs.s) == 1)',
  'inputs.l.map(x => [inputs.l, inputs.l]).map(x => [x, x]).length > 0 && json(inputs.l.map(x => [inputs.l, inputs.l]).map(x => [x, x])) != ""',
  'unique(inputs.t).length > 0',
  'unique(inputs.l.map(x => ({ a: inputs.t }))).length > 0',
  'sort(inputs.t).length > 0',
  'inputs.t.every(x => x.matches("^(?:[a-z]?){300}[0-9]+$"))',
  'inputs.l.every(x => inputs.a.includes("aaaaaaaab"))',
  'inputs.l.every(x => round(x, 2) == x)',
]) {
  test(`twenty checks of ${expression.slice(0, 60)} end within a turn`, () => {
    const method = requiring(Array.from({ length: 20 }, () => expression));
    const cpuMs = leastCpuMs(CPU_MS_MAX, () => unmetRequirements(method, LARGE));
    assert.ok(cpuMs < CPU_MS_MAX, `took ${cpuMs} ms of CPU`);
  });
}
