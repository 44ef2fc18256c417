import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { nodeCodeFault, nodeLibFault } from './code-syntax.ts';

test('code that the runner accepts has no fault', () => {
  const codes = [
    "import { a } from 'x'\nconst a = 1\nreturn { a }",
    "import * as a from 'x'; import b, { c as d } from 'y' with { type: 'json' }\nawait a.x; return { b, d }",
    'for await (const x of y) step.log(x)\nreturn { at: import.meta.url, n: arguments.length }',
    'if (n) return { n }\n// the end',
    'await using file = open()',
    'return { text: `${n}`, other: "${steps.a.b}", third: \'{{inputs.x}}\' }',
    'return /(?<a>x)(?i:y)[\\p{L}--a]/v.test(n)',
    '',
  ];
  for (const code of codes) assert.deepEqual(nodeCodeFault(code, ['step', 'n']), null, code);
  assert.equal(nodeLibFault('export const a = 1\nexport async function f() { await a }\nclass B {}'), null);
});

test('code that the runner cannot parse has the place of its fault', () => {
  const codes: [code: string, at: number][] = [
    ['let step = 1', 4],
    ['return { a: 1 }\n}\nfunction other() {', 18],
    ['}); (async function () {', 2],
    ["import a from 'x'\nimport { a } from 'y'", 18],
    ['const a = ${steps.a}', 11],
    ['with (n) {}', 0],
    ['return `a ${n', 13],
  ];
  for (const [code, at] of codes) assert.equal(nodeCodeFault(code, ['step'])?.at, at, code);
});

test('code that nests is refused long before the stack ends, where V8 would end the process', () => {
  const parts = [
    ...['(', '`${', 'a=>', '!', '{', 'new ', 'a?a:', 'a**', 'a+', 'await ', '[...', '({a:', 'import(', 'if(a){}else '],
    ...['function f(){', 'class A extends ', 'a:'],
  ];
  const shapes = [...parts.map((part) => ['', part]), ['let ', '['], ['/', '('], ['/', '[']] as const;
  for (const [head, part] of shapes) {
    const fault = nodeCodeFault(head + part.repeat(20_000), []);
    // At the end of the stack its place would not be known.
    assert.ok(
      fault !== null && fault.at > 0 && fault.at < part.length * 2_000,
      `${head}${part} ${JSON.stringify(fault)}`,
    );
  }
});

test('code that nests as much as people write is read', () => {
  const codes = [
    `return ${'a + '.repeat(1000)}a`,
    `return ${'['.repeat(150)}${']'.repeat(150)}`,
    `${'if (a) {} else '.repeat(300)}{}`,
  ];
  for (const code of codes) assert.equal(nodeCodeFault(code, ['a']), null, code.slice(0, 30));
});

test('hostile code is read in bounded time, however deep it nests', () => {
  const shapes = [
    '('.repeat(65_000),
    '`${'.repeat(21_000),
    'a=>'.repeat(21_000),
    '!'.repeat(65_000),
    `${'{'.repeat(4_000)}${'var a;'.repeat(9_000)}`,
    `${'{'.repeat(190)}${'var a;'.repeat(9_000)}${'}'.repeat(190)}`,
    Array.from({ length: 6_000 }, (_, n) => `let a${n};`).join(''),
    Array.from({ length: 9_000 }, (_, n) => `a${n}:`).join(''),
    `/${Array.from({ length: 5_000 }, (_, n) => `(?<a${n}>b)`).join('')}/`,
  ];
  for (const shape of shapes) {
    assert.ok((nodeCodeFault(shape, [])?.message.length ?? 0) < 200);
    assert.ok(
      leastCpuMs(1_000, () => nodeCodeFault(shape, [])) < 1_000,
      `${shape.slice(0, 20)}… takes more than a second`,
    );
  }
});
