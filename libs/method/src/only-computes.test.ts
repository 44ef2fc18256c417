import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileMethod } from './compile.ts';
import { onlyComputes } from './method-facts.ts';

function computes(steps: string, more = ''): boolean {
  const { method, diagnostics } = compileMethod(`format: method/2\nname: one\n${more}steps:\n${steps}`);
  assert.ok(method, JSON.stringify(diagnostics));
  return onlyComputes(method);
}

const PLAIN = '  - name: a\n    node: |\n      return { n: 1 }\n    out: { n: integer }\n';

describe('a method only computes', () => {
  for (const [what, steps] of [
    ['with plain code', PLAIN],
    ['with a question', `${PLAIN}  - name: q\n    ask: Yes?\n    out: { value: [yes, no] }\n`],
    [
      'with plain code in groups and loops',
      `  - name: g\n    each: =[1, 2]\n    steps:\n${PLAIN.replaceAll(/^/gm, '    ').trimEnd()}\n`,
    ],
  ] as const) {
    test(what, () => assert.equal(computes(steps), true));
  }
  for (const [what, steps, more] of [
    ['with code that prints', PLAIN.replace('return', "console.log('x'); return"), ''],
    ['with code that waits for others', PLAIN.replace('return', "await fetch('http://a.example'); return"), ''],
    ['with python', '  - name: a\n    python: "return {\'n\': 1}"\n    out: { n: integer }\n', ''],
    ['with a request', '  - name: a\n    http: { get: https://a.example }\n', ''],
    ['with a wait', `${PLAIN}  - name: w\n    wait: 1s\n`, ''],
    ['with code that must not run twice', `${PLAIN.trimEnd()}\n    on_interrupt: fail\n`, ''],
    ['with steps after the others', PLAIN, 'finally:\n  - name: f\n    http: { get: https://a.example }\n'],
    ['with code of its own library', PLAIN, 'lib:\n  node: export const x = () => 1\n'],
  ] as const) {
    test(`not ${what}`, () => assert.equal(computes(steps, more), false));
  }
});
