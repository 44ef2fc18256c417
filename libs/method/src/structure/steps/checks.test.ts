// Checks: their two spellings, what they see, and how they fail to be one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { evaluate } from '../../evaluate.ts';

const ensure = (checks: string, step = '    node: f()\n    out: { n: integer }\n'): string =>
  `steps:\n  - name: a\n${step}    ensure:\n${checks}`;

test('a check is a sentence with a condition, or its long form', () => {
  const method = compiled(
    ensure(
      '      - N is positive: out.n > 0\n      - { name: N is small, that: out.n < 9, level: warn, message: "is ${out.n}" }\n',
    ),
  );
  const [first, second] = stepIn(method, 'a', 'node').ensure;
  assert.deepEqual(
    [first?.name, first?.level, first?.message, first?.that.paths],
    ['N is positive', 'error', null, ['out.n']],
  );
  assert.deepEqual([second?.name, second?.level], ['N is small', 'warn']);
  const scope = { inputs: {}, run: { id: '', started_at: '', version_id: '' }, steps: {}, out: { n: 12 } };
  assert.ok(second?.message);
  assert.equal(evaluate(second.message, scope), 'is 12');
  assert.equal(evaluate(second.that, scope), false);
});

test('the finding for an invalid check shows the shape of a check (M106)', () => {
  assert.deepEqual(found(ensure('      - N is positive\n')), ['M106 6:9-22']);
  assert.match(hintOf('M106', ensure('      - N is positive\n')), /The total is positive: out\.total > 0/);
  assert.deepEqual(found(ensure('      - a: out.n > 0\n        b: out.n > 1\n')), ['M106 7:9-10']);
  assert.deepEqual(codesOf(ensure('      - { name: x }\n')), ['M106']);
  assert.deepEqual(codesOf(ensure('      - { that: out.n > 0 }\n')), ['M106']);
  assert.deepEqual(found('steps:\n  - name: a\n    node: f()\n    require: inputs.flag\n'), ['M106 4:5-12']);
  assert.deepEqual(found('steps:\n  - name: a\n    check: []\n'), ['M106 3:5-10']);
});

test('the name of a check is short and the only one of its list (M203, M204)', () => {
  assert.deepEqual(found(ensure(`      - ${'x'.repeat(121)}: out.n > 0\n`)), ['M203 6:9-130']);
  assert.deepEqual(found(ensure('      - a: out.n > 0\n      - a: out.n > 1\n')), ['M204 7:9-10']);
  assert.deepEqual(codesOf(`${ensure('      - a: out.n > 0\n')}    require:\n      - a: inputs.flag\n`), []);
});

test('words and keys of the long form are checked (M105, M101)', () => {
  assert.deepEqual(found(ensure('      - { name: a, that: out.n > 0, level: warning }\n')), ['M105 6:44-51']);
  assert.match(hintOf('M105', ensure('      - { name: a, that: out.n > 0, level: eror }\n')), /"error"/);
  assert.deepEqual(codesOf(ensure('      - { name: a, that: out.n > 0, severity: warn }\n')), ['M101']);
});

test('a check is boolean and sees what its place gives (M404, M403)', () => {
  assert.deepEqual(found(ensure('      - a: out.n\n')), ['M404 6:12-17']);
  assert.deepEqual(codesOf('steps:\n  - name: a\n    node: f()\n    require:\n      - a: out.n > 0\n'), ['M403']);
  assert.deepEqual(codesOf(ensure('      - a: response.status == 200\n')), ['M403']);
  const http = '    http: { get: https://a.example }\n';
  assert.deepEqual(codesOf(ensure('      - a: response.status == 200\n', http)), []);
  assert.deepEqual(codesOf(ensure('      - a: response.status == "200"\n', http)), ['M406']);
  assert.deepEqual(codesOf(ensure('      - a: secrets.API_TOKEN != ""\n')), ['M606']);
});

test('require and ensure of the method: inputs before the first step, all steps after the last', () => {
  const source = (require: string, ensureThat: string) =>
    `require:\n  - a: ${require}\nsteps:\n  - name: s\n    node: f()\n    out: { n: integer }\nensure:\n  - b: ${ensureThat}\n`;
  assert.deepEqual(codesOf(source('inputs.count > 0', 'steps.s.n > 0 && inputs.count > 0')), []);
  assert.deepEqual(found(source('steps.s.n > 0', 'true')), ['M403 2:8-13']);
  assert.deepEqual(codesOf(source('run.id != ""', 'true')), ['M403']);
  const method = compiled(source('inputs.count > 0', 'steps.s.n > 0'));
  assert.deepEqual([method.require[0]?.name, method.ensure[0]?.name], ['a', 'b']);
});

test('a check step judges the steps before it, and the checks of a group the steps inside it', () => {
  const method = compiled('steps:\n  - name: c\n    check:\n      - a: inputs.count > 0\n');
  assert.equal(stepIn(method, 'c', 'check').checks.length, 1);
  const group = (more: string) =>
    `steps:\n  - name: p\n${more}    parallel:\n      - name: a\n        node: f()\n        out: { n: integer }\n    ensure:\n      - fine: steps.a.n > 0\n`;
  assert.deepEqual(codesOf(group('')), []);
  assert.deepEqual(codesOf(group('    if: inputs.flag\n')), []);
  assert.deepEqual(codesOf(group('    each: inputs.ids\n')), []);
});
