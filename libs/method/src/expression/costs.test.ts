// The worst cost of the members of expressions within the fuel of one value: each holds a turn for less than its bound.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileMethod } from '../compile.ts';
import { unmetRequirements } from '../unmet-requirements.ts';
import { FUNCTIONS } from './functions.ts';
import { LIST_METHODS } from './methods-of-lists.ts';
import { TEXT_METHODS } from './methods-of-texts.ts';

// 50 ms on an idle machine; this one is shared, and its caches with it. Without bounds most take many seconds.
const CPU_MS_MAX = 150;

const INPUTS =
  'n: integer, l: list<number>, e: list<any>, t: list<string>, a: string, b: string, s: string, u: string, m: map<integer>, o: map<integer>, d: any';

const VALUES = JSON.parse(
  JSON.stringify({
    n: 3,
    l: Array.from({ length: 30_000 }, (_, n) => n * 1.1e-7),
    e: Array.from({ length: 60_000 }, () => []),
    t: Array.from({ length: 8_000 }, (_, n) => `abcdefghij${n}`),
    a: `${'a'.repeat(50_000)}b`,
    b: `${'a'.repeat(50_000)}b`,
    s: `${' '.repeat(50_000)}1`,
    u: 'İß'.repeat(60_000),
    m: Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`k${n}`, n])),
    o: Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`k${n}`, n])),
    d: { x: Array.from({ length: 20_000 }, (_, n) => ({ y: n })) },
  }),
);

const again = (body: string) => `inputs.l.every(x => ${body})`;

/** By member: expressions that its fuel lets run for longest. */
const COSTLY: Readonly<Record<string, readonly string[]>> = {
  filter: [again('inputs.l.filter(y => y > 0).length >= 0')],
  map: [again('inputs.l.map(y => y).length >= 0')],
  flatMap: ['inputs.l.flatMap(x => inputs.l).length > 0'],
  flat: [again('inputs.e.flat().length == 0')],
  find: [again('inputs.l.find(y => y < 0) == null')],
  some: [again('!inputs.l.some(y => y < 0)')],
  every: [again('inputs.l.every(y => y >= 0)')],
  indexOf: [again('inputs.l.indexOf(-1) < 0')],
  includes: [again('!inputs.a.includes("aaaaaaaab")'), again('!inputs.l.includes(-1)')],
  join: [again('inputs.l.join("").length > 0'), again('inputs.t.join("").length > 0')],
  slice: [again('inputs.l.slice(0).length > 0'), again('inputs.a.slice(1) != ""')],
  concat: [again('inputs.e.concat(inputs.e).length > 0')],
  startsWith: [again('!inputs.a.startsWith(inputs.b + "c")')],
  endsWith: [again('inputs.a.endsWith(inputs.b)')],
  toLowerCase: [again('inputs.u.toLowerCase() != ""'), again('inputs.a.toLowerCase() != ""')],
  toUpperCase: [again('inputs.u.toUpperCase() != ""'), again('inputs.a.toUpperCase() != ""')],
  trim: [again('inputs.s.trim() != ""')],
  split: [again('inputs.a.split("a").length > 0'), again('inputs.u.split("").length > 0')],
  replaceAll: [again('inputs.a.replaceAll("a", "b") != ""'), again('inputs.a.replaceAll("aa", "bbb") != ""')],
  padStart: [again('"1".padStart(100000, inputs.a) != ""')],
  matches: [
    'inputs.t.every(x => x.matches("^(?:[a-z]?){300}[0-9]+$"))',
    again('!inputs.a.slice(0, 100).matches("(?:.{1,10}){1,90}Z")'),
    again('!inputs.a.slice(0, 1000).matches("[a-z]+[a-z]+[a-z]+[0-9]")'),
    again('!inputs.a.slice(0, 1000).matches("(?:[a-z]?){10}[0-9]+$")'),
  ],
  round: [again('round(x * 1.005, 15) > -1')],
  floor: [again('floor(x) >= 0')],
  ceil: [again('ceil(x) >= 0')],
  abs: [again('abs(x) >= 0')],
  sum: [again('sum(inputs.l) > 0')],
  min: [again('(min(inputs.l) ?? 0) >= 0')],
  max: [again('(max(inputs.l) ?? 0) >= 0')],
  unique: [again('unique(inputs.t).length > 0'), again('unique(inputs.l).length > 0')],
  sort: [again('sort(inputs.t).length > 0'), again('sort(inputs.l, y => -y).length > 0')],
  keys: [again('keys(inputs.m).length > 0')],
  values: [again('values(inputs.m).length > 0')],
  json: [again('json(inputs.m) != ""'), again('json(inputs.d) != ""'), again('json(inputs.u) != ""')],
  text: [again('text(x) != ""')],
  number: [again('number(inputs.s) == 1'), again('number("1.2345678901234567e-300") > 0')],
  timestamp: [again('timestamp("2026-01-01T00:00:00.123456789+01:00") > 0')],
  '==': [again('inputs.m == inputs.o'), again('inputs.a == inputs.b')],
};

test('every method and function of expressions is here with its worst case', () => {
  for (const name of [...TEXT_METHODS.keys(), ...LIST_METHODS.keys(), ...FUNCTIONS.keys()]) {
    assert.ok(COSTLY[name], name);
  }
});

for (const [name, expressions] of Object.entries(COSTLY)) {
  test(`${name} holds a turn for a bounded time`, () => {
    for (const expression of expressions) {
      const source = `format: method/2\nname: ab\ninputs: { ${INPUTS} }\nrequire:\n  - C: ${JSON.stringify(expression)}\nsteps:\n  - name: one\n    node: f()\n`;
      const { method, diagnostics } = compileMethod(source);
      assert.ok(method, JSON.stringify(diagnostics));
      const cpuMs = leastCpuMs(CPU_MS_MAX, () => unmetRequirements(method, VALUES));
      assert.ok(cpuMs < CPU_MS_MAX, `${expression} took ${cpuMs} ms of CPU`);
    }
  });
}
