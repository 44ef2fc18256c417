// The policy of an ask step: who answers, how many, when they are reminded, and what follows the deadline.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { specialFeatures } from '../../features.ts';
import { questionForm } from '../../question-form.ts';

const OUT = '{ go: boolean, team: [a, b], note?: text }';
/** An ask step with these keys: the first of them is in line 5. */
const ask = (keys: string, { out = OUT, more = '' } = {}): string =>
  `steps:\n  - name: a\n    ask:\n      question: Go?\n${keys
    .split('\n')
    .map((line) => `      ${line}\n`)
    .join('')}    out: ${out}\n${more}`;
const DEADLINE = { more: '    limits: { timeout: 2d }\n' };
const policyOf = (source: string) => stepIn(compiled(source), 'a', 'ask').policy;

test('all keys of a policy are read', () => {
  const keys =
    'to: [admin, Ann@Example.com]\nnot_starter: true\nneeds: 2\nremind: [1d, 1h]\nescalate: { after: 36h, to: viewer }\non_timeout: { answer: { go: false, team: a } }';
  assert.deepEqual(policyOf(ask(keys, DEADLINE)), {
    to: ['admin', 'ann@example.com'],
    notStarter: true,
    needs: { count: 2, on: ['go', 'team'] },
    remindMs: [3_600_000, 86_400_000],
    escalate: { afterMs: 129_600_000, to: ['viewer'] },
    timeoutAnswer: { go: false, team: 'a' },
  });
});

test('a step without these keys has no policy, and one with a key that changes nothing has one', () => {
  assert.equal(policyOf('steps:\n  - name: a\n    ask: Go?\n    out: { go: boolean }\n'), null);
  assert.equal(policyOf(ask('details: x')), null);
  const nothing = { to: [], notStarter: false, needs: null, remindMs: [], escalate: null, timeoutAnswer: null };
  assert.deepEqual(policyOf(ask('on_timeout: fail', DEADLINE)), nothing);
  assert.deepEqual(policyOf(ask('not_starter: false')), nothing);
});

test('only a version with one of the keys needs a worker that can read them', () => {
  const features = (source: string) => specialFeatures(compiled(source).features);
  assert.deepEqual(features(ask('details: x')), []);
  assert.deepEqual(features(ask('not_starter: false')), ['answer_policies']);
  const group =
    'steps:\n  - name: g\n    steps:\n      - name: a\n        ask: { question: Go?, to: admin }\n        out: { go: boolean }\n';
  assert.deepEqual(features(group), ['answer_policies']);
  assert.deepEqual(features(`${ask('details: x')}finally:\n${group.slice(7).replace('name: a', 'name: b')}`), [
    'answer_policies',
  ]);
});

test('the policy is found by the path of its question, in rounds too', () => {
  const method = compiled(ask('to: admin', { more: '    each: inputs.ids\n' }));
  const question = questionForm(method, 'a[3]');
  assert.deepEqual(question.kind === 'form' && question.policy?.to, ['admin']);
});

test('an answerer is an address or a role (M518)', () => {
  assert.deepEqual(policyOf(ask('to: member'))?.to, ['member']);
  assert.deepEqual(found(ask('to: [admin, finance]')), ['M518 5:19-26']);
  assert.match(hintOf('M518', ask('to: admins')), /"admin"/);
  assert.match(hintOf('M518', ask('to: Member')), /"member"/);
  assert.match(hintOf('M518', ask('to: x')), /admin, member, viewer/);
  for (const to of [
    '=inputs.note',
    '"${inputs.note}@b.example"',
    'a@',
    '"Ann <a@b.example>"',
    '"a@b.example\\nBcc: c@d"',
    '7',
    '{ a: b }',
    '[[a@b.example]]',
    `${'a'.repeat(250)}@b.example`,
  ])
    assert.deepEqual(codesOf(ask(`to: ${to}`)), ['M518'], to);
  assert.match(hintOf('M518', ask('escalate: { after: 1h, to: [ann] }')), /roles are/);
});

test('answerers are listed once and are at most 50 (M003, M803)', () => {
  assert.deepEqual(found(ask('to: [a@b.example, A@B.example]')), ['M003 5:25-36']);
  const people = (count: number) => Array.from({ length: count }, (_, index) => `p${index}@b.example`).join(', ');
  assert.deepEqual(codesOf(ask(`to: [${people(50)}]`)), []);
  assert.deepEqual(codesOf(ask(`to: [${people(51)}]`)), ['M803']);
  assert.deepEqual(codesOf(ask('to: []')), ['M803']);
});

test('needs is a count from 1 to 50, with fields that must be the same (M803, M508, M102)', () => {
  assert.deepEqual(policyOf(ask('needs: 1'))?.needs, { count: 1, on: ['go', 'team'] });
  assert.deepEqual(policyOf(ask('needs: { count: 3, on: [note] }'))?.needs, { count: 3, on: ['note'] });
  assert.deepEqual(policyOf(ask('needs: 2', { out: '{ note: text }' }))?.needs, { count: 2, on: [] });
  assert.deepEqual(policyOf(ask('needs: 2', { out: '{ t: "[a, b] | null", n: integer }' }))?.needs?.on, ['t']);
  for (const needs of ['0', '-1', '51', '1.5', 'two', '{ count: 0 }'])
    assert.deepEqual(codesOf(ask(`needs: ${needs}`)), ['M803'], needs);
  assert.deepEqual(found(ask('needs: { on: [go] }')), ['M102 5:7-12']);
  assert.deepEqual(found(ask('needs: { count: 2, on: [gone] }')), ['M508 5:31-35']);
  assert.match(hintOf('M508', ask('needs: { count: 2, on: [gone] }')), /for example {2}on: \[go\]/);
  assert.deepEqual(codesOf(ask('needs: { count: 2, on: go }')), ['M508']);
  assert.deepEqual(codesOf(ask('needs: { count: 2, on: [] }')), ['M508']);
  assert.deepEqual(codesOf(ask('needs: { count: 2, on: [go, go] }')), ['M003']);
  assert.deepEqual(codesOf(ask('needs: { count: 2, of: [go] }')), ['M101']);
});

test('more people than are named is a warning (M522)', () => {
  assert.deepEqual(found(ask('to: [a@b.example]\nneeds: 2')), ['M522 6:14-15']);
  assert.deepEqual(codesOf(ask('to: [a@b.example, c@b.example]\nneeds: 2')), []);
  assert.deepEqual(codesOf(ask('to: [a@b.example, admin]\nneeds: 3')), []);
  assert.deepEqual(codesOf(ask('to: [a@b.example]\nneeds: 2\nescalate: { after: 1h, to: c@b.example }')), []);
  assert.deepEqual(codesOf(ask('needs: 50')), []);
});

test('reminders and the escalation come before the deadline (M519, M801, M803)', () => {
  assert.deepEqual(policyOf(ask('remind: 1h'))?.remindMs, [3_600_000]);
  assert.deepEqual(found(ask('remind: [1h, 2d]', DEADLINE)), ['M519 5:20-22']);
  assert.deepEqual(found(ask('remind: 3d', DEADLINE)), ['M519 5:15-17']);
  assert.deepEqual(codesOf(ask('remind: [1h, 3d]')), []);
  assert.deepEqual(found(ask('escalate: { after: 2d, to: admin }', DEADLINE)), ['M519 5:26-28']);
  assert.match(hintOf('M519', ask('escalate: { after: 2d, to: admin }', DEADLINE)), /less than 2d/);
  assert.deepEqual(codesOf(ask('remind: [soon]')), ['M801']);
  assert.deepEqual(codesOf(ask('remind: [10ms]')), ['M803']);
  assert.deepEqual(codesOf(ask('remind: [1h, 60m]')), ['M003']);
  assert.deepEqual(codesOf(ask(`remind: [${Array.from({ length: 11 }, (_, i) => `${i + 1}h`).join(', ')}]`)), ['M803']);
  assert.deepEqual(codesOf(ask('remind: []')), ['M803']);
  assert.deepEqual(found(ask('escalate: { to: admin }')), ['M102 5:7-15']);
  assert.deepEqual(codesOf(ask('escalate: { after: 1h }')), ['M102']);
  assert.deepEqual(codesOf(ask('escalate: 2d')), ['M102']);
});

test('on_timeout needs a deadline (M520) and is fail or an answer (M105)', () => {
  assert.deepEqual(found(ask('on_timeout: fail')), ['M520 5:7-17']);
  assert.deepEqual(codesOf(ask('on_timeout: { answer: { go: true, team: a } }')), ['M520']);
  assert.deepEqual(codesOf(ask('on_timeout: stop', DEADLINE)), ['M105']);
  assert.deepEqual(codesOf(ask('on_timeout: [fail]', DEADLINE)), ['M105']);
  assert.deepEqual(codesOf(ask('on_timeout: {}', DEADLINE)), ['M105']);
});

test('the time-out answer fits out, and gets its defaults (M521)', () => {
  const answer = (text: string, options = {}) => ask(`on_timeout: { answer: ${text} }`, { ...DEADLINE, ...options });
  const withDefault = { out: '{ go: boolean, why: string = no answer }' };
  assert.deepEqual(policyOf(answer('{ go: true }', withDefault))?.timeoutAnswer, { go: true, why: 'no answer' });
  assert.deepEqual(found(answer('{ go: maybe, team: a }')), ['M521 5:35-40']);
  assert.deepEqual(found(answer('{ go: true }')), ['M521 5:29-41']);
  assert.deepEqual(codesOf(answer('{ go: true, team: c }')), ['M521']);
  assert.match(hintOf('M521', answer('{ go: true, taem: a }')), /"team"/);
  assert.deepEqual(codesOf(answer('yes')), ['M521']);
  assert.deepEqual(codesOf(answer('[]')), ['M521']);
  assert.deepEqual(codesOf(answer('{ n: 7 }', { out: '{ n: { $schema: { type: string } } }' })), ['M521']);
  const literal = answer('{ go: true, team: a, note: "=inputs.note" }');
  assert.equal(policyOf(literal)?.timeoutAnswer?.note, '=inputs.note');
});

test('a time-out answer that a check of the answer refuses is an error (M521)', () => {
  const ensure = (check: string) =>
    ask('on_timeout: { answer: { go: false, team: a } }', { more: `${DEADLINE.more}    ensure:\n      - ${check}\n` });
  assert.deepEqual(found(ensure('Yes or a note: out.go || out.note != null')), ['M521 5:19-53']);
  assert.match(hintOf('M521', ensure('Yes or a note: out.go || out.note != null')), /Yes or a note/);
  assert.deepEqual(codesOf(ensure('Only a: out.team == "a"')), []);
  // Known only in the run.
  assert.deepEqual(codesOf(ensure('As asked: out.go == inputs.flag')), []);
});

test('a policy key beside ask gets the hint to put it inside (M101)', () => {
  const beside = 'steps:\n  - name: a\n    ask: Go?\n    not_starter: true\n    out: { go: boolean }\n';
  assert.deepEqual(found(beside), ['M101 4:5-16']);
  assert.match(hintOf('M101', beside), /ask: \{ question: …, not_starter: … \}/);
  assert.match(hintOf('M101', ask('approvals: 2')), /"needs"/);
});

test('the policies of a hostile source are read in bounded work', () => {
  // Each answer is small, each check expensive.
  const step = (index: number) =>
    `  - name: s${index}\n    ask: { question: Go?, on_timeout: { answer: { n: 1 } } }\n    out: { n: integer }\n    limits: { timeout: 1d }\n    ensure:\n      - It is slow: '${'['.repeat(1)}${'1,'.repeat(200)}1].map(x => [${'1,'.repeat(200)}1].map(y => x * y + out.n)).length > 0'\n`;
  const source = `steps:\n${Array.from({ length: 150 }, (_, index) => step(index)).join('')}`;
  const before = process.cpuUsage();
  codesOf(source);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 3_000_000, `${user} µs`);
});
