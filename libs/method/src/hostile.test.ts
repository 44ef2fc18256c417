// Sources made to crash, hang or fill memory: each ends in a bounded time with a diagnostic or a method, never with a throw.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { compileMethod } from './compile.ts';
import type { Diagnostic } from './diagnostic.ts';

const BYTES_MAX = 262_144;
// On an idle machine each takes below 200 ms of CPU; the rest is room for machines busy with other tests.
const CPU_MS_MAX = 600;
const HEADER = 'format: method/2\nname: ab\n';
const INPUTS = 'inputs: { a: integer, b: boolean, l: list<integer> }\n';
const JSON_STEP = `${HEADER}${INPUTS}steps:\n  - name: x\n    http:\n      post: https://a.example/\n      json:\n`;
const END = 'steps:\n  - name: one\n    node: f()\n';

/** Repeats a unit until the source is as large as one may be. */
function full(before: string, unit: (n: number) => string, after = ''): string {
  const parts = [before];
  let length = before.length + after.length;
  for (let n = 0; ; n++) {
    const part = unit(n);
    if (length + part.length > BYTES_MAX) return parts.join('') + after;
    parts.push(part);
    length += part.length;
  }
}

const many = (count: number, unit: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => unit(n)).join('');
const perJson = (expression: string): string => full(JSON_STEP, (n) => `        k${n}: "=${expression}"\n`);

const SOURCES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      '[',
      '{',
      '- ',
      '? ',
      ': ',
      'a: [',
      '"a": ',
      '-\n',
      '\n',
      '#\n',
      '---\n',
      '- !t b\n',
      ']\n',
      '\ta: b\n',
      '%YAML 1.2\n',
      'a: &a x\n',
      '? - ',
      '&',
      '*a ',
      '|',
      '>\n',
    ].map((unit) => [`only ${JSON.stringify(unit)}`, unit.repeat(Math.floor(BYTES_MAX / unit.length))]),
  ),
  'a billion laughs': `${HEADER}a: &a [x,x]\n${many(30, (n) => `b${n}: &b${n} [*${n ? `b${n - 1}` : 'a'}, *${n ? `b${n - 1}` : 'a'}]\n`)}`,
  'keys without end': full(HEADER, (n) => `key${n}: 1\n`),
  'the same key again and again': full(HEADER, () => 'name: x\n'),
  'deep indentation': `${HEADER}x-a:\n${many(700, (n) => `${' '.repeat(n + 1)}a:\n`)}`.slice(0, BYTES_MAX),
  // The open bracket ends where the next line begins further left: the rest is no longer inside of it.
  'keys in a line after an open bracket': `${HEADER}x-a:\n  b: [a\n  c: ${'a: '.repeat(8_000)}\nx-c: 1`,
  'brackets after closing ones': `${']\n'.repeat(9_000)}${'['.repeat(9_000)}`,
  'dashes in deeper and deeper lines': `${HEADER}x-a:\n${many(64, (n) => `${' '.repeat(n * 60 + 1)}${'- '.repeat(30)}\n`)}`,
  'closing brackets': full(`${HEADER}x-a: b\n`, () => ']').slice(0, 35_000),
  'one endless line': full(HEADER, () => 'word '),
  'fields without end': `${HEADER}inputs:\n${many(5_000, (n) => `  a${n}: string\n`)}${END}`,
  'large patterns with defaults': `${HEADER}inputs:\n${many(3_000, (n) => `  a${n}: string /^[a-z]{1,900}${n}$/ = aaaaaaaa\n`)}${END}`,
  'broken patterns': `${HEADER}inputs:\n${many(3_000, (n) => `  a${n}: string /((x{1,900}){2}${n}/\n`)}${END}`,
  'doubling named types': `${HEADER}types:\n  T0: string\n${many(99, (n) => `  T${n + 1}: { a: T${n}, b: T${n} }\n`)}inputs: { t: T99 }\n${END}`,
  'doubling unions': `${HEADER}types:\n${many(45, (n) => `  U${n}: ${n ? `U${n - 1} | V${n - 1}` : 'string'}\n  V${n}: ${n ? `U${n - 1} | V${n - 1} | null` : 'integer'}\n`)}inputs: { t: U44 | V44 }\n${END}`,
  'types in circles': `${HEADER}types:\n${many(99, (n) => `  T${n}: { ${many(20, (m) => `a${m}: T${(n * 7 + m) % 99}, `)}z: string }\n`)}${END}`,
  'doubling defaults': `${HEADER}types:\n  T0: { x: 'string = a' }\n${many(60, (n) => `  T${n + 1}:\n    a: 'T${n} = {}'\n    b: 'T${n} = {}'\n`)}inputs: { t: T60 }\n${END}`,
  'doubling raw references': `${HEADER}inputs:\n  a:\n    $schema:\n      $ref: '#/$defs/d40'\n      $defs:\n        d0: {}\n${many(40, (n) => `        d${n + 1}: { allOf: [{ $ref: '#/$defs/d${n}' }, { $ref: '#/$defs/d${n}' }] }\n`)}${END}`,
  'deep type texts': `${HEADER}inputs:\n  a: ${'list<'.repeat(20_000)}\n  b: ${'{a:'.repeat(10)}\n  c: string${'[]'.repeat(20_000)}\n${END}`,
  'one large out in many places': `${HEADER}steps:\n  - name: s\n    node: f()\n    out: { ${many(2_000, (n) => `f${n}: string, `)}z: string }\nresult: { ${many(150, (n) => `r${n}: =steps.s, `)}z: 1 }`,
  'long conditions': perJson(`${'inputs.b && '.repeat(300)}true`),
  'long alternatives': perJson(`${'inputs.b == true || '.repeat(190)}true`),
  'deep parentheses': perJson('('.repeat(1_900)),
  'deep conditionals': perJson(`${'inputs.b ? 1 : '.repeat(50)}2`),
  'deep functions': perJson(`${many(25, (n) => `inputs.l.map(x${n} => `)}1${')'.repeat(25)}`),
  'deep objects': perJson(`${'[{a:'.repeat(25)}1${'}]'.repeat(25)} == 1`),
  'rows of minus signs': perJson(`${'- '.repeat(1_900)}1`),
  'patterns in expressions': perJson(`'a'.matches('^[a-z]{1,900}$') ? 1 : 2`),
  'bad expressions': perJson('inputs.nope + wrong'),
  'open insertions': full(`${HEADER}steps:\n  - name: x\n    ask: "`, () => '${', '"'),
  'insertions without end': full(`${HEADER}${INPUTS}steps:\n  - name: x\n    ask: "`, () => '${inputs.a}', '"'),
  'large code': full(
    `${HEADER}secrets: [AB]\nsteps:\n  - name: x\n    node: |\n`,
    () => '      ${inputs. return {{ AB\n',
  ),
  'steps without end': full(`${HEADER}steps:\n`, (n) => `  - name: s${n}\n    node: f()\n`),
  'long ifs in many steps': `${HEADER}${INPUTS}steps:\n${many(200, (n) => `  - name: s${n}\n    if: inputs.a > ${n}${' && inputs.a > 1'.repeat(15)}\n    node: f()\n`)}`,
  'groups in groups': `${HEADER}steps:\n${many(30, (n) => `${' '.repeat(2 * n)}- name: g${n}\n${' '.repeat(2 * n)}  steps:\n`)}`,
  'parallel in parallel': `${HEADER}steps: ${'[{ name: a, parallel: '.repeat(31)}`,
  'steps without end in groups': full(
    `${HEADER}steps:\n  - name: g\n    steps:\n`,
    (n) => `      - name: s${n}\n        wait: 1s\n`,
  ),
  'loops in loops': `${HEADER}${INPUTS}steps:\n${many(190, (n) => `  - name: g${n}\n    each: inputs.l\n    repeat: { until: last == out, max: 1000 }\n    if: last != null && item != null\n    steps: [{ name: s${n}, wait: 1s }]\n    result: { a: =steps.s${n} }\n`)}`,
  'checks without end': full(
    `${HEADER}${INPUTS}steps:\n  - name: c\n    check:\n`,
    (n) => `      - Check ${n}: inputs.a == ${n}\n`,
  ),
  'one check with many names': full(
    `${HEADER}${INPUTS}steps:\n  - name: c\n    check:\n      - A: inputs.b\n`,
    (n) => `        B${n}: inputs.b\n`,
  ),
  'long conditions around many steps': `${HEADER}${INPUTS}steps:\n${many(7, (n) => `${' '.repeat(4 * n)}  - name: g${n}\n${' '.repeat(4 * n)}    if: ${many(150, (m) => `inputs.a != ${n * 1_000 + m} && `)}inputs.b\n${' '.repeat(4 * n)}    steps:\n`)}${many(190, (n) => `${' '.repeat(30)}- { name: s${n}, if: inputs.b, wait: 1s }\n`)}`,
  'calls without end': full(
    `${HEADER}${INPUTS}steps:\n`,
    (n) => `  - name: s${n}\n    call: wf_${n}@${'x'.repeat(60)}\n    in: { a${n}: =inputs.a }\n`,
  ),
  'choices without end': `${HEADER}inputs: { a: [${many(9_000, (n) => `c${n}, `)}z] }\n${END}`,
  'dangerous names': `${HEADER}inputs: { constructor: string }\ntypes: { Constructor: string }\nsteps:\n  - name: constructor\n    node: f()\n    out: { constructor: string, toString?: string, hasOwnProperty?: string }\nresult: { constructor: =steps.constructor.constructor, prototype: =inputs.constructor }`,
};

test('the compiler is warm', () => {
  for (let n = 0; n < 20; n++) compileMethod(`${JSON_STEP}        a: =inputs.a + 1\n`);
});

for (const [name, source] of Object.entries(SOURCES)) {
  test(`a source of ${name} ends in time`, () => {
    let diagnostics: readonly Diagnostic[] = [];
    const cpuMs = leastCpuMs(CPU_MS_MAX, () => {
      ({ diagnostics } = compileMethod(source));
    });
    assert.ok(diagnostics.length <= 100);
    assert.ok(diagnostics.every(({ message }) => !message.includes('call stack')));
    assert.ok(cpuMs < CPU_MS_MAX, `took ${cpuMs} ms of CPU`);
  });
}

test('the finding is one sentence, however much of the source is at fault', () => {
  const { diagnostics } = compileMethod(`${HEADER}x-a: | ${'{ '.repeat(200)}`);
  for (const { message } of diagnostics) assert.ok(message.length < 300, message);
});

test('names of Object.prototype are ordinary names', () => {
  const { method, diagnostics } = compileMethod(SOURCES['dangerous names'] ?? '');
  assert.deepEqual(diagnostics, []);
  assert.deepEqual([...(method?.result.keys() ?? [])], ['constructor', 'prototype']);
});

test('any text and any bytes give diagnostics or a method, never a throw', () => {
  const fragment = fc.constantFrom(
    ...[
      'format: method/2\n',
      'name: ab\n',
      'steps:\n',
      '  - name: a\n',
      '    node: |\n',
      '      return 1\n',
      '    http: { get: ',
      'https://a.example/${',
      'inputs.a',
      '}',
      '"',
      "'",
      ' =',
      'steps.a',
      '?.b',
      '[',
      ']',
      '{',
      '\n',
      '  ',
      '    out: ',
      'string 1..',
      '5',
      ' | null',
      'list<',
      '>',
      '/^a$/',
      ' -- x',
      '    if: ',
      '!',
      '&a ',
      '*a',
      '<<: ',
      '\t',
      '#',
      'result: ',
      '    each: ',
      '    repeat: { until: ',
      '    parallel:\n',
      '    steps:\n      - name: b\n',
      '    check: [',
      '    call: wf_1@',
      'on_failure:\n',
      'types: ',
      '__proto__',
      ': ',
      ', ',
      '$type',
      '$schema',
    ],
  );
  const soup = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 300 }), fc.uint8Array({ maxLength: 300 })),
      (source) => {
        const { method, diagnostics } = compileMethod(source);
        assert.equal(
          method === null,
          diagnostics.some((d) => d.severity === 'error') || diagnostics.some((d) => d.code === 'U000'),
        );
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a good source with a piece cut out or doubled never makes the compiler throw', () => {
  const folder = new URL('../examples/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.method'));
  const examples = names.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  fc.assert(
    fc.property(fc.constantFrom(...examples), fc.nat(), fc.nat(40), fc.boolean(), (source, at, length, doubled) => {
      const start = at % source.length;
      const piece = source.slice(start, start + length);
      const { diagnostics } = compileMethod(
        source.slice(0, start) + (doubled ? piece + piece : '') + source.slice(start + length),
      );
      const places = diagnostics.map((d) => d.line * 10_000 + d.column);
      assert.deepEqual(
        places,
        [...places].sort((a, b) => a - b),
      );
    }),
    { numRuns: 200 },
  );
});
