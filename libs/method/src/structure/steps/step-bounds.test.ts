// How many steps, how deep, and how long compiling them takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { codesOf, found, hintOf, methodOf } from '../../compile.fixture.ts';
import { compileMethod } from '../../compile.ts';

const many = (count: number, unit: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => unit(n)).join('');

test('200 steps are counted at any depth (M805)', () => {
  const inner = (count: number) =>
    `steps:\n  - name: g\n    steps:\n${many(count, (n) => `      - name: s${n}\n        wait: 1s\n`)}finally:\n  - name: z\n    wait: 1s\n`;
  assert.deepEqual(codesOf(inner(198)), []);
  assert.deepEqual(found(inner(199)), ['M805 403:5-5']);
  assert.match(hintOf('M805', inner(199)), /call another method/);
});

test('lists of steps nest at most 8 levels (M805)', () => {
  const nested = (levels: number) =>
    `steps:\n${many(levels - 1, (n) => `${'  '.repeat(2 * n + 1)}- name: g${n}\n${'  '.repeat(2 * n + 2)}steps:\n`)}${'  '.repeat(2 * levels - 1)}- { name: last_one, wait: 1s }\n`;
  assert.deepEqual(codesOf(nested(8)), []);
  assert.deepEqual(found(nested(9)), ['M805 17:33-38']);
});

test('parallel runs at most 16 steps (M805)', () => {
  const branches = (count: number) =>
    `steps:\n  - name: p\n    parallel:\n${many(count, (n) => `      - name: s${n}\n        wait: 1s\n`)}`;
  assert.deepEqual(codesOf(branches(16)), []);
  assert.deepEqual(found(branches(17)), ['M805 3:5-13']);
  assert.match(hintOf('M805', branches(17)), /at_once/);
});

test('a list of steps holds steps (M107)', () => {
  assert.deepEqual(found('steps:\n  - name: g\n    steps: []\n'), ['M107 3:5-10']);
  assert.deepEqual(found('steps:\n  - name: g\n    parallel: [text]\n'), ['M107 3:16-20']);
  assert.deepEqual(found('steps: [{ name: a, wait: 1s }]\non_failure: later\n'), ['M107 2:1-11']);
});

test('a method of 200 steps validates within 50 ms', () => {
  const source = methodOf(
    `steps:\n${many(200, (n) => `  - name: s${n}\n    if: inputs.count > ${n}\n    http: { get: "https://a.example/\${inputs.count}" }\n    out: { n: integer }\n`)}`,
  );
  const cpuMs = leastCpuMs(50, () => {
    const { diagnostics } = compileMethod(source);
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['M605'],
    );
  });
  // The rest is room for machines that do something else; a look at each step from each other takes a second.
  assert.ok(cpuMs < 250, `took ${Math.round(cpuMs)} ms of CPU`);
});
