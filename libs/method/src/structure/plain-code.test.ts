import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainNodeCode } from './computing-code.ts';

const plain = [
  'return { doubled: n * 2 }',
  '',
  'const rows = list.map(({ a, ...rest }, i) => ({ a: Number(a), rest, i })).filter(Boolean)\nreturn { rows }',
  'let sum = 0; for (const { price = 1 } of list) sum += price; return { sum, text: `${sum.toFixed(2)} EUR` }',
  'function size(it) { return typeof it === "string" ? it.length : Object.keys(it).length }\nreturn { size: size(list) }',
  'outer: for (let i = 0; i < n; i++) { for (;;) { if (i > 2) break outer; continue outer } } return { at: new Date(n).toISOString() }',
  'try { JSON.parse(text) } catch { throw new Error(`no JSON: ${text}`) }',
  'const { constructor: made, fetch: loaded } = list[0]; return { made: list.process, key: { console: 1 }, loaded }',
  'return /a(b)/g.exec(text)?.[1] ?? null',
];
const others = [
  ['waits', 'await null; return {}'],
  ['waits in a function', 'const f = async () => 1; return { f: f() }'],
  ['prints', 'console.log(n)'],
  ['compares in a way that is a comment of scripts', 'let left = n; return { less: n <!--left }'],
  ['imports', 'import fs from "node:fs"\nreturn {}'],
  ['imports when it runs', 'return import("node:fs")'],
  ['uses the network', 'return fetch(text)'],
  ['uses its environment', 'return { home: process.env.HOME }'],
  ['asks whether there is a global', 'return { there: typeof Buffer }'],
  [
    'asks beside a variable of the same name',
    'if (n) { const Buffer = 1; list.push(Buffer) } return { there: typeof Buffer }',
  ],
  ['speaks to its worker', 'step.log("x")'],
  ['uses lib', 'return lib.sum(list)'],
  ['uses the global object', 'globalThis.x = 1'],
  ['uses this', 'return { self: this }'],
  ['uses its arguments', 'return { n: arguments.length }'],
  ['reads its own module', 'return { name: import.meta.filename }'],
  ['makes code', 'return eval("1")'],
  ['has a generator', 'const f = function* () { yield 1 }; return { all: [...f()] }'],
  ['has a class', 'class A { static n = 1 } return { n: A.n }'],
  ['stops a debugger', 'debugger'],
  ['disposes', 'using x = list[0]; return {}'],
  ['does not parse', 'return {'],
  ['closes its function', '}); (() => {'],
  ['is long', `return { text: "${'x'.repeat(20_000)}" }`],
] as const;

for (const code of plain) {
  test(`plain: ${code.slice(0, 60)}`, () => equal(isPlainNodeCode(code, ['n', 'list', 'text']), true));
}
for (const [what, code] of others) {
  test(`code that ${what} is not plain`, () => equal(isPlainNodeCode(code, ['n', 'list', 'text']), false));
}
