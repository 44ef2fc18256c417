// Sources made to cost much in the parts around the steps: tests, dependencies, lib. Each ends in a bounded time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileMethod } from '../compile.ts';
import type { Diagnostic } from '../diagnostic.ts';

const BYTES_MAX = 262_144;
// On an idle machine each takes below 200 ms of CPU; the rest is room for machines busy with other tests.
const CPU_MS_MAX = 600;
const HEADER = 'format: method/2\nname: ab\n';

const many = (count: number, unit: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => unit(n)).join('');
const step = (out: string): string => `steps:\n  - name: s\n    http: { get: https://a.example/ }\n    out: ${out}\n`;
/** One test whose mock of step `s` has the given field `f`. */
const mocked = (top: string, type: string, value: string): string =>
  `${HEADER}${top}${step(`\n      f: ${type}`)}tests:\n  - name: t\n    mock:\n      s:\n        f: ${value}\n`;
const steps = many(200, (n) => `  - name: ${'a'.repeat(56)}${n}\n    node: f()\n`);
const results = many(200, (n) => `  ${'r'.repeat(56)}${n}: 1\n`);
const unknown = (count: number): string => many(count, (n) => `${'b'.repeat(56)}${n}, `);

const SOURCES: Readonly<Record<string, string>> = {
  'a list of texts under a large pattern': mocked(
    '',
    'list<string /^([a-z]{1,30}){1,30}$/>',
    `[${many(30, () => `${'a'.repeat(8_000)}, `)}z]`,
  ),
  'a list of unions of unions': mocked(
    `types:\n${many(60, (n) => `  U${n}: "${many(40, (m) => `${m > 0 ? ' | ' : ''}${n > 0 && m === 0 ? `U${n - 1}` : `string ${n}..${n + m}`}`)}"\n`)}`,
    'list<U59>',
    `[${many(15_000, () => 'x, ')}z]`,
  ),
  'a list of large choices': mocked(
    `types: { C: [${many(199, (n) => `c${n}, `)}z] }\n`,
    'list<C | null>',
    `[${many(15_000, () => 'z, ')}z]`,
  ),
  'a deep value': mocked('', 'any', `${'{a: '.repeat(55)}1${'}'.repeat(55)}`),
  'a hundred tests of unknown steps': `${HEADER}steps:\n${steps}tests:\n${many(100, (n) => `  - { name: t${n}, mock: { ${many(20, (m) => `${'b'.repeat(50)}${m}: 1, `)}z: 1 } }\n`)}`,
  'unknown names without end': `${HEADER}steps:\n${steps}result:\n${results}tests:\n  - name: t\n    expect: { result: { ${many(1_500, (n) => `${'b'.repeat(56)}${n}: 1, `)}z: 1 }, skipped: [${unknown(800)}z], checks_failed: [${unknown(200)}z] }\n`,
  'a hundred tests with checks': `${HEADER}steps:\n${steps}tests:\n${many(100, (n) => `  - name: t${n}\n    expect:\n      status: failed\n      that:\n${many(20, (m) => `        - c${m}: steps.${'a'.repeat(56)}${m} == null\n`)}`)}`,
  'mocks in long paths': `${HEADER}${step('{ a: string }')}tests:\n  - name: t\n    mock: { ${many(400, (n) => `"${'s[0]/'.repeat(100)}s${n}": 1, `)}z: 1 }\n`,
  'groups in groups': `${HEADER}steps:\n${many(30, (n) => `${'  '.repeat(2 * n + 1)}- name: g${n}\n${'  '.repeat(2 * n + 2)}steps:\n`)}${'  '.repeat(61)}- name: x\n${'  '.repeat(62)}node: f()\ntests: [{ name: t, mock: { x: 1 } }]\n`,
  'packages without end': `${HEADER}dependencies:\n  npm: [${many(9_000, (n) => `p${n}@1.0.0, `)}z@1.0.0]\n  pip: [${many(9_000, (n) => `p${n}>=1, `)}z==1]\n${step('{ a: string }')}`,
  'package names without end': `${HEADER}dependencies:\n  npm: ["${'a.'.repeat(60_000)}@1"]\n  pip: ["${'a['.repeat(60_000)}==1"]\n${step('{ a: string }')}`,
  'package names just in bounds': `${HEADER}dependencies:\n  pip: [${many(100, () => `"${'a.'.repeat(149)}", `)}z==1]\n  commands: [${many(90, () => `"${'a'.repeat(300)}", `)}z]\n${step('{ a: string }')}`,
};

for (const [name, source] of Object.entries(SOURCES)) {
  test(`a source of ${name} ends in time`, () => {
    assert.ok(Buffer.byteLength(source) <= BYTES_MAX, 'the source would be refused for its size');
    let diagnostics: readonly Diagnostic[] = [];
    const cpuMs = leastCpuMs(CPU_MS_MAX, () => {
      ({ diagnostics } = compileMethod(source));
    });
    assert.ok(diagnostics.length <= 100);
    assert.ok(cpuMs < CPU_MS_MAX, `took ${cpuMs} ms of CPU`);
  });
}
