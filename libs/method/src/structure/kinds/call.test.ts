// Calls: how a target is written, and how the interface of the called method is kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { type Callee, type Callees, compileMethod } from '../../compile.ts';

const call = (target: string, more = ''): string => `steps:\n  - name: a\n    call: ${target}\n${more}`;

test('a target is a method, one of its versions, or a file beside this one (M514)', () => {
  const target = (text: string) => stepIn(compiled(call(text)), 'a', 'call').target;
  assert.deepEqual(target('wf_8Xk2Lq'), { kind: 'method', method: 'wf_8Xk2Lq', version: 'pinned' });
  assert.deepEqual(target('wf_8Xk2Lq@ver_1'), { kind: 'method', method: 'wf_8Xk2Lq', version: { id: 'ver_1' } });
  assert.deepEqual(target('wf_8Xk2Lq@published'), { kind: 'method', method: 'wf_8Xk2Lq', version: 'published' });
  assert.deepEqual(target('./parts/classify.method'), { kind: 'file', path: './parts/classify.method' });
  assert.deepEqual(target('../classify.method'), { kind: 'file', path: '../classify.method' });
  for (const text of [
    'classify',
    '8Xk2Lq',
    'wf_',
    'wf_1@',
    'wf_1@a@b',
    '/etc/x.method',
    './x.yaml',
    'https://a.example/x.method',
    '5',
  ])
    assert.deepEqual(codesOf(call(text)), ['M514'], text);
  assert.deepEqual(found(call('classify')), ['M514 3:11-19']);
  assert.match(hintOf('M514', call('classify')), /wf_…@published/);
});

const method = (fields: string, result: string): Callee => {
  const { method: made, diagnostics } = compileMethod(
    `format: method/2\nname: callee\ntypes:\n  Team: [red, blue]\ninputs: ${fields}\nsteps:\n  - name: s\n    node: f()\n    out: ${result}\nresult: { label: =steps.s.label, team: =steps.s.team, list: =steps.s.list }\n`,
  );
  assert.ok(made, JSON.stringify(diagnostics));
  return made;
};
const CALLEE = method(
  '{ text: string 1..5, level: integer = 1, team: Team, note?: string }',
  '{ label: [a, b], team: Team | null, list: list<integer> }',
);
const callees: Callees = (target) =>
  target === 'wf_1'
    ? CALLEE
    : target === 'wf_2'
      ? 'missing'
      : target === 'wf_3'
        ? 'cycle'
        : target === 'wf_4'
          ? 'too_deep'
          : undefined;
const found1 = (given: string, out = ''): string[] => found(call('wf_1', `    in: ${given}\n${out}`), { callees });
const hint = (code: string, given: string, out = '') =>
  hintOf(code, call('wf_1', `    in: ${given}\n${out}`), { callees });

test('a method that is not there, calls back or nests too deep is refused (M514, M515)', () => {
  assert.deepEqual(found(call('wf_2'), { callees }), ['M514 3:11-15']);
  assert.deepEqual(found(call('wf_3'), { callees }), ['M515 3:11-15']);
  assert.deepEqual(found(call('wf_4'), { callees }), ['M515 3:11-15']);
  assert.deepEqual(codesOf(call('wf_9', '    in: { anything: 1 }\n    out: { x: integer }\n'), { callees }), []);
});

test('in must fit the inputs of the called method (M516)', () => {
  assert.deepEqual(found1('{ text: abc, team: red }'), []);
  assert.deepEqual(found1('{ text: abc, team: red, level: 2, note: =inputs.note }'), []);
  assert.deepEqual(found1('{ text: abc, team: red, levl: 2 }'), ['M516 4:33-37']);
  assert.match(hint('M516', '{ text: abc, team: red, levl: 2 }'), /"level"/);
  assert.deepEqual(found1('{ text: abc }'), ['M516 4:5-7']);
  assert.match(hint('M516', '{ text: abc }'), /team: …/);
  assert.deepEqual(found1('{ text: abcdef, team: red }'), ['M516 4:17-23']);
  assert.deepEqual(found1('{ text: =inputs.count, team: red }'), ['M516 4:17-30']);
  assert.deepEqual(found1('{ text: abc, team: green }'), ['M516 4:28-33']);
  assert.deepEqual(found1('{ text: =inputs.note, team: red }'), ['M516 4:17-29']);
  assert.match(hint('M516', '{ text: =inputs.note, team: red }'), /\?\?/);
  assert.deepEqual(found(call('wf_1'), { callees }), ['M516 3:5-9', 'M516 3:5-9']);
});

test('out is a part of the result of the called method (M517)', () => {
  const given = '{ text: abc, team: red }';
  assert.deepEqual(found1(given, '    out: { label: [a, b], list: list<number> }\n'), []);
  assert.deepEqual(found1(given, '    out: { labl: string }\n'), ['M517 5:12-16']);
  assert.match(hint('M517', given, '    out: { labl: string }\n'), /"label"/);
  assert.deepEqual(found1(given, '    out: { label: integer }\n'), ['M517 5:19-26']);
  assert.deepEqual(found1(given, '    out: { list: string }\n'), ['M517 5:18-24']);
});

test('a secret is not given to a called method', () => {
  const login = 'steps:\n  - name: l\n    node: f()\n    out: { t: secret }\n';
  assert.deepEqual(codesOf(`${login}${call('wf_9', '    in: { t: =steps.l.t }\n').slice(7)}`), ['M606']);
});
