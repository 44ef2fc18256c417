// Code steps of the three languages: what they are given, what shows in the code without running it, where prints go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';

const step = (body: string): string => `steps:\n  - name: a\n${body}`;

test('node, python and shell compile alike', () => {
  const lines = {
    node: ['// API_TOKEN', 'use(count)'],
    python: ['# API_TOKEN', 'use(count)'],
    shell: ['# API_TOKEN', 'use $count'],
  };
  for (const kind of ['node', 'python', 'shell'] as const) {
    const [first, second] = lines[kind];
    const method = compiled(
      step(
        `    in: [inputs.count]\n    secrets: [API_TOKEN]\n    ${kind}: |\n      ${first}\n      ${second}\n    out: { n: integer }\n`,
      ),
    );
    const code = stepIn(method, 'a', kind);
    assert.equal(code.code, `${first}\n${second}\n`);
    assert.equal(code.codeLine, 10);
    assert.deepEqual(
      [[...code.inputs.keys()], code.secrets, code.stdout, code.network],
      [['count'], ['API_TOKEN'], null, true],
    );
    assert.equal(code.limits.timeoutMs, 600_000);
  }
  assert.deepEqual(found(step('    python: ""\n')), ['M112 3:5-11']);
  assert.match(hintOf('M112', step('    shell: 5\n')), /shell: \|/);
});

test('static imports are plain code to the compiler', () => {
  const source = step('    node: |\n      import { readFile } from "node:fs/promises"\n      await readFile("x")\n');
  assert.deepEqual(codesOf(source), []);
});

test('a variable must not be reserved in JavaScript or Python (M203)', () => {
  for (const name of ['class', 'lambda', 'await', 'None', 'step', 'lib', 'inputs'])
    assert.deepEqual(codesOf(step(`    shell: echo $${name}\n    in: { ${name}: 1 }\n`)), ['M203'], name);
});

test('values of the round are variables by their own name', () => {
  const source = step('    each: inputs.ids\n    as: id\n    shell: echo $id\n    in: [id]\n');
  assert.deepEqual(codesOf(source), []);
  assert.deepEqual(codesOf(step('    shell: echo $id\n    in: [id]\n')), ['M403']);
});

test('stdout names a field of out, as JSON unless it is text (M508)', () => {
  const as = (type: string) =>
    stepIn(compiled(step(`    shell: ls\n    stdout: x\n    out: { x: ${type} }\n`)), 'a', 'shell').stdout?.as;
  assert.deepEqual(['string', 'text', 'date', 'integer', 'list<string>', 'any', 'string | null'].map(as), [
    'text',
    'text',
    'text',
    'json',
    'json',
    'json',
    'text',
  ]);
  assert.deepEqual(found(step('    shell: ls\n    stdout: y\n    out: { x: string }\n')), ['M508 4:13-14']);
  assert.match(hintOf('M508', step('    shell: ls\n    stdout: files\n')), /out: \{ files: string \}/);
  assert.match(hintOf('M508', step('    shell: ls\n    stdout: fils\n    out: { files: string }\n')), /"files"/);
});

test('templates, dropped results, unused values and secrets not listed are reported (M505, M506, M507, M603)', () => {
  assert.deepEqual(found(step('    shell: echo ${inputs.count}\n')), ['M505 3:5-10']);
  assert.deepEqual(codesOf(step('    python: return {"a": 1}\n')), ['M001']);
  assert.deepEqual(codesOf(step('    python: return [1]\n')), ['M506']);
  assert.deepEqual(codesOf(step('    shell: step out n 1\n')), ['M506']);
  assert.deepEqual(codesOf(step('    shell: echo done; return 0\n')), []);
  assert.deepEqual(found(step('    shell: ls\n    in: [inputs.count]\n')), ['M507 4:5-7']);
  assert.deepEqual(codesOf(step('    shell: cat $STEP_IN\n    in: [inputs.count]\n')), []);
  assert.deepEqual(found(step('    shell: curl -H "$API_TOKEN"\n')), ['M603 3:5-10']);
});

test('the shell lib reads the values of the step, code of other languages does not', () => {
  const lib = 'lib:\n  shell: |\n    go() { echo $count; }\n';
  assert.deepEqual(codesOf(`${lib}${step('    shell: go\n    in: [inputs.count]\n')}`), []);
  assert.deepEqual(codesOf(`${lib}${step('    node: go()\n    in: [inputs.count]\n')}`), ['M507']);
});

test('text that starts like a name that can be read here was meant as an expression (M409)', () => {
  const source = (value: string) => step(`    each: inputs.ids\n    as: id\n    node: f(x)\n    in: { x: ${value} }\n`);
  assert.deepEqual(found(source('id.length')), ['M409 6:14-23']);
  assert.deepEqual(codesOf(source('ids.length')), []);
});
