import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { isContainedNodeCode } from './computing-code.ts';

const contained = [
  'return { doubled: n * 2 }',
  'await null; return { n }',
  'const reply = await fetch(text, { signal: AbortSignal.timeout(n) })\nreturn { all: await reply.json() }',
  "const { createHash } = await import('node:crypto'); return { hash: createHash('sha256').update(text).digest('hex') }",
  'await new Promise((go) => setTimeout(go, n)); step.log("later"); return {}',
  "import { createHash } from 'node:crypto'\nawait null; return { hash: createHash('sha256').update(text).digest('hex') }",
  "console.log('number %d', n, list); await null; console.error(text); return {}",
  'class Sum { #all = 0; constructor(n) { this.#all = n } get all() { return this.#all } }\nreturn { n: new Sum(n).all }',
  'async function* pages() { for (const it of list) yield await it }\nfor await (const page of pages()) n += page\nreturn { n }',
];
const others = [
  ['prints by a name of its own', 'const { log } = console; log(n)'],
  ['prints by a member made at run time', "console['log'](n)"],
  ['changes how others print', 'console.log = () => {}'],
  ['indents what others print', 'console.group(text)'],
  ['hands console on', 'list.push(console)'],
  ['names its outputs', 'process.stdout.write(text)'],
  ['shadows console', 'const console = { log() {} }; console.log(n)'],
  ['imports what writes', 'const fs = await import("node:fs"); return {}'],
  ['imports what starts processes', 'await import("child_process")'],
  ['imports a package', 'await import("lodash")'],
  ['imports what it is given', 'await import(text)'],
  ['imports at its top', 'import fs from "node:fs"\nreturn {}'],
  ['imports a package at its top', 'import ms from "ms"\nreturn {}'],
  ['imports under the name of a global', 'import { setInterval } from "timers/promises"\nreturn {}'],
  ['names its process', 'return { home: process.env.HOME }'],
  ['asks whether there is a process', 'return { there: typeof process }'],
  [
    'names the process beside a variable',
    'if (n) { const process = 1; list.push(process) } return { p: typeof process }',
  ],
  ['names the global object', 'globalThis.left = n'],
  ['makes code of text', 'return eval(text)'],
  ['makes code of text by a function', 'return list.map.constructor(text)()'],
  ['makes code of text by a name', "return list.map['constructor'](text)()"],
  ['makes code of text by a function behind a comment', 'return list.map./**/constructor(text)()'],
  ['makes code of text by a name with an escape', 'return list.map.const\\u0072uctor(text)()'],
  ['makes code of text by a text with an escape', "return list.map['const\\x72uctor'](text)()"],
  ['makes code of text by a pattern', 'const { const\\u0072uctor: make } = list.map; return make(text)()'],
  ['gives an import more than a name', "await import('node:crypto', (globalThis.left = n, undefined))"],
  ['hides a timer', 'await null; setTimeout(() => {}, n).unref(); return {}'],
  ['reads its values from a file', 'return { at: text /* STEP_IN */ }'],
  ['uses lib', 'return lib.sum(list)'],
  ['repeats without end', 'setInterval(() => {}, n)'],
  ['reads its own module', 'return { name: import.meta.filename }'],
  ['does not parse', 'return {'],
  ['is long', `return { text: "${'x'.repeat(20_000)}" }`],
] as const;

for (const code of contained) {
  test(`contained: ${code.slice(0, 60)}`, () => equal(isContainedNodeCode(code, ['n', 'list', 'text']), true));
}
for (const [what, code] of others) {
  test(`code that ${what} is not contained`, () => equal(isContainedNodeCode(code, ['n', 'list', 'text']), false));
}
