// Which steps can be read where, and when a value may be absent: skipped steps, passed-over failures, rounds, branches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf } from '../../compile.fixture.ts';

const maker = (name: string, more = '', indent = '  '): string =>
  `${indent}- name: ${name}\n${more === '' ? '' : `${indent}  ${more}\n`}${indent}  node: f()\n${indent}  out: { n: integer }\n`;
const reader = (condition: string, indent = '  '): string =>
  `${indent}- name: reader\n${indent}  if: ${condition}\n${indent}  node: f()\n`;

test('a step whose failure is passed over may be absent, with any if', () => {
  const steps = `steps:\n${maker('a', 'on_error: continue')}`;
  assert.deepEqual(codesOf(`${steps}${reader('steps.a.n > 1')}`), ['M405']);
  assert.deepEqual(codesOf(`${steps}${reader('steps.a != null && steps.a.n > 1')}`), []);
  const both = `steps:\n  - name: a\n    if: inputs.flag\n    on_error: continue\n    node: f()\n    out: { n: integer }\n`;
  assert.deepEqual(codesOf(`${both}${reader('inputs.flag && steps.a.n > 1')}`), ['M405']);
});

test('the steps of a plain group can be read after it, guarded when the group has an if', () => {
  const group = (more: string) => `steps:\n  - name: g\n${more}    steps:\n${maker('a', '', '      ')}`;
  assert.deepEqual(codesOf(`${group('')}${reader('steps.a.n > 1')}`), []);
  assert.deepEqual(codesOf(`${group('    if: inputs.flag\n')}${reader('steps.a.n > 1')}`), ['M405']);
  assert.deepEqual(codesOf(`${group('    if: inputs.flag\n')}${reader('inputs.flag && steps.a.n > 1')}`), []);
  assert.deepEqual(codesOf(`${group('    on_error: continue\n')}${reader('steps.a.n > 1')}`), ['M405']);
});

test('inside a group its own if holds, so that steps under it need no guard of theirs', () => {
  const source = (condition: string) =>
    `steps:\n${maker('a', 'if: inputs.flag')}  - name: g\n    if: ${condition}\n    steps:\n${reader('steps.a.n > 1', '      ')}`;
  assert.deepEqual(codesOf(source('inputs.flag')), []);
  assert.deepEqual(codesOf(source('inputs.count > 1')), ['M405']);
});

test('a step inside two ifs is sure only where both are repeated', () => {
  const source = (condition: string) =>
    `steps:\n  - name: g\n    if: inputs.flag\n    steps:\n${maker('a', 'if: inputs.count > 1', '      ')}${reader(condition)}`;
  assert.deepEqual(codesOf(source('inputs.flag && inputs.count > 1 && steps.a.n > 1')), []);
  assert.deepEqual(codesOf(source('inputs.flag && steps.a.n > 1')), ['M405']);
  assert.deepEqual(codesOf(source('inputs.count > 1 && steps.a.n > 1')), ['M405']);
});

test('each gives a list, with nulls where a round may be skipped or fail', () => {
  const source = (more: string, that: string) =>
    `steps:\n  - name: a\n    each: inputs.ids\n${more}    node: f()\n    out: { n: integer }\n${reader(that)}`;
  assert.deepEqual(codesOf(source('', 'steps.a.every(x => x.n > 1)')), []);
  assert.deepEqual(codesOf(source('    if: item != ""\n', 'steps.a.every(x => x.n > 1)')), ['M405']);
  assert.deepEqual(codesOf(source('    on_error: continue\n', 'steps.a.every(x => x.n > 1)')), ['M405']);
  assert.deepEqual(codesOf(source('    if: item != ""\n', 'steps.a.filter(x => x != null).every(x => x.n > 1)')), []);
});

test('the list of each may count on what its if shows before it looks at the item', () => {
  const source = (condition: string, list: string) =>
    `steps:\n  - name: a\n    if: inputs.flag\n    node: f()\n    out: { l: list<integer> }\n  - name: b\n    if: ${condition}\n    each: ${list}\n    node: f()\n`;
  assert.deepEqual(codesOf(source('inputs.flag', 'steps.a.l')), []);
  assert.deepEqual(codesOf(source('steps.a != null && item > 1', 'steps.a.l')), []);
  assert.deepEqual(codesOf(source('item > 1 && steps.a != null', 'steps.a.l')), ['M405']);
  assert.deepEqual(codesOf(source('inputs.count > 1', 'steps.a.l')), ['M405']);
  assert.deepEqual(codesOf(source('inputs.flag &&', 'steps.a.l')), ['M401', 'M405']);
});

test('repeat gives a list; a skipped one is absent as a whole', () => {
  const source = (more: string, that: string) =>
    `steps:\n  - name: a\n    repeat: { until: out?.n == 1, max: 3 }\n${more}    node: f()\n    out: { n: integer }\n${reader(that)}`;
  assert.deepEqual(codesOf(source('', 'steps.a.every(x => x.n > 1)')), []);
  assert.deepEqual(codesOf(source('    if: inputs.flag\n', 'steps.a.length > 1')), ['M405']);
  assert.deepEqual(codesOf(source('    if: inputs.flag\n', 'inputs.flag && steps.a.every(x => x.n > 1)')), []);
  assert.deepEqual(codesOf(source('    on_error: continue\n', 'steps.a.every(x => x.n > 1)')), ['M405']);
});

test('the steps of a round are its own; their names stay taken', () => {
  const loop = `steps:\n  - name: loop\n    each: inputs.ids\n    steps:\n${maker('a', '', '      ')}${maker('b', 'in: [steps.a.n]', '      ')}`;
  assert.deepEqual(codesOf(loop.replace('f()', 'f(n)').replace(/node: f\(\)/g, 'node: f(n)')), []);
  const outside = `${loop}${reader('steps.a.n > 1')}`.replaceAll('f()', 'f(n)');
  assert.deepEqual(found(outside), ['M201 13:15-16']);
  assert.match(hintOf('M201', outside), /round of "loop".*result/);
  assert.deepEqual(codesOf(`${loop}${maker('a')}`.replaceAll('f()', 'f(n)')), ['M204']);
});

test('a group gives its result out; without one its value is empty', () => {
  const loop = (result: string) =>
    `steps:\n  - name: loop\n    each: inputs.ids\n    steps:\n${maker('a', '', '      ')}${result}`;
  assert.deepEqual(codesOf(`${loop('    result: { n: =steps.a.n }\n')}${reader('steps.loop.some(x => x.n > 1)')}`), []);
  assert.deepEqual(codesOf(`${loop('')}${reader('steps.loop.some(x => x.n > 1)')}`), ['M403']);
  assert.deepEqual(found(`${loop('    result: { n: =steps.a.m }\n')}`), ['M403 8:27-28']);
});

test('until of a group is pointed to out when it reads a step of the round', () => {
  const source = `steps:\n  - name: g\n    repeat: { until: steps.a.n == 1, max: 3 }\n    steps:\n${maker('a', '', '      ')}`;
  assert.match(hintOf('M201', source), /give it out with result/);
});

test('branches of parallel do not see each other; the steps after them see all', () => {
  const parallel = (more: string) =>
    `steps:\n${maker('before')}  - name: p\n    parallel:\n${maker('a', 'if: steps.before.n > 1', '      ')}      - name: g\n        steps:\n${maker('b', more, '          ')}`;
  assert.deepEqual(codesOf(`${parallel('')}${reader('steps.a != null && steps.a.n > steps.b.n')}`), []);
  const across = parallel('if: steps.a != null');
  assert.deepEqual(found(across), ['M201 14:23-24']);
  assert.match(hintOf('M201', across), /branches of parallel do not see each other/);
});

test('a step below has not finished, at any depth', () => {
  assert.deepEqual(found(`steps:\n${reader('steps.a.n > 1')}${maker('a')}`), ['M201 3:15-16']);
  const inner = `steps:\n${reader('steps.a.n > 1')}  - name: g\n    steps:\n${maker('a', '', '      ')}`;
  assert.match(hintOf('M201', inner), /only steps above/);
});

test('on_failure and finally see that any step may not have run', () => {
  const source = (list: string, condition: string) =>
    `steps:\n${maker('a')}  - name: l\n    each: inputs.ids\n    node: f()\n${list}:\n${reader(condition)}`;
  for (const list of ['on_failure', 'finally']) {
    assert.deepEqual(codesOf(source(list, 'steps.a.n > 1')), ['M405']);
    assert.deepEqual(codesOf(source(list, 'steps.l.length > 1')), ['M405']);
    assert.deepEqual(codesOf(source(list, 'steps.a != null && steps.a.n > 1')), []);
  }
  const guarded = `steps:\n${maker('a', 'if: inputs.flag')}finally:\n${reader('inputs.flag && steps.a.n > 1')}`;
  assert.deepEqual(codesOf(guarded), ['M405']);
});

test('failure is known in on_failure, absent after a success in finally, and nowhere else', () => {
  const source = (list: string, text: string) =>
    `steps:\n${maker('a')}${list}:\n  - name: b\n    ask: ${text}\n    out: { ok: boolean }\n`;
  const text = 'Why ${failure.message} in ${failure.step}?';
  assert.deepEqual(codesOf(source('on_failure', text)), []);
  assert.deepEqual(codesOf(source('finally', text)), ['M405', 'M405']);
  assert.deepEqual(codesOf(`steps:\n${reader('failure.kind == "http"')}`), ['M403']);
  assert.deepEqual(codesOf(`steps:\n${maker('a')}on_failure:\n${reader('failure.kind == "htp"')}`), ['M408']);
  const misspelt = `steps:\n${maker('switch')}on_failure:\n${reader('failure.step == "swich"')}`;
  assert.match(hintOf('M408', misspelt), /"switch"/);
});

test('the result and the last checks do not see the steps of on_failure and finally', () => {
  const source = (tail: string) => `steps:\n${maker('a')}finally:\n${maker('z')}${tail}`;
  assert.deepEqual(codesOf(source('result: { n: =steps.z.n }\n')), ['M201']);
  assert.deepEqual(codesOf(source('ensure:\n  - fine: steps.z.n > 0\n')), ['M201']);
  assert.deepEqual(codesOf(source('ensure:\n  - fine: steps.a.n > 0\nresult: { n: =steps.a.n }\n')), []);
});

test('a condition on last holds in its own rounds only', () => {
  const inner = (until: string) =>
    `          - name: deep\n            repeat: { until: out.n == 1, max: 2 }\n            if: last != null\n            http: { get: "https://a.example/\${${until}}" }\n            out: { n: integer }\n`;
  const source = (until: string) =>
    `steps:\n  - name: outer\n    repeat: { until: out.m == 1, max: 2 }\n    steps:\n      - name: g\n        steps:\n${inner(until)}    result: { m: 1 }\n`;
  assert.deepEqual(codesOf(source('last.n')), ['M405']);
  assert.deepEqual(codesOf(source('last?.n ?? 0')), []);
});

test('names inside loops reach the compiled form under their own steps', () => {
  const method = compiled(
    `steps:\n  - name: loop\n    each: inputs.ids\n    as: id\n    at_once: 4\n    steps:\n      - name: a\n        node: f(id)\n        in: [id]\n        out: { n: integer }\n    result: { n: =steps.a.n }\n`,
  );
  const [loop] = method.steps;
  assert.ok(loop?.kind === 'steps' && loop.loop?.kind === 'each');
  assert.deepEqual([loop.loop.as, loop.loop.atOnce, loop.loop.items.source], ['id', 4, 'inputs.ids']);
  assert.deepEqual([...(loop.result?.keys() ?? [])], ['n']);
  assert.deepEqual(loop.steps[0]?.kind === 'node' && [...loop.steps[0].inputs.keys()], ['id']);
  assert.deepEqual(method.features, ['node', 'steps']);
});
