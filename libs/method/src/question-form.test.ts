import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from './compile.ts';
import { questionForm } from './question-form.ts';

const { method, diagnostics } = compileMethod(`format: method/2
name: ab
inputs: { list: list<integer> }
steps:
  - name: approve
    ask: Sure?
    out: { ok: boolean }
  - name: each_one
    each: inputs.list
    steps:
      - name: review
        ask: Right?
        out: { note: string }
  - name: both
    parallel:
      - name: pay
        node: "return { id: 'x' }"
        out: { id: string }
        on_interrupt: ask
      - name: log
        node: "return {}"
  - name: other
    call: wf_other@ver_1
    in: {}
on_failure:
  - name: why
    ask: Why?
    out: { why: string }
finally:
  - name: last
    ask: Done?
    out: { done: boolean }
`);
assert.ok(method, JSON.stringify(diagnostics));

const fieldsAt = (path: string) => {
  const found = questionForm(method, path);
  return found.kind === 'form' ? Object.keys(found.form.properties as object).join() : found.kind;
};

test('the form of a question is found by the path of its step, in loops, groups and after a failure', () => {
  const paths = ['approve', 'each_one[7]/review', 'both/pay', 'on_failure/why', 'finally/last'];
  assert.deepEqual(paths.map(fieldsAt), ['ok', 'note', 'decision,out', 'why', 'done']);
});

test('a step that asks nothing, and a missing step, have no form', () => {
  const paths = ['', 'nothing', 'each_one', 'both/log', 'approve/approve', 'why', 'on_failure', '@failure', '/'];
  assert.deepEqual(new Set(paths.map(fieldsAt)), new Set(['none']));
  assert.equal(fieldsAt('approve/'.repeat(100_000)), 'none');
  assert.equal(fieldsAt('constructor'), 'none');
});

test('inside a call the called method has the form', () => {
  assert.deepEqual(questionForm(method, 'other/group/approve'), {
    kind: 'call',
    target: { kind: 'method', method: 'wf_other', version: { id: 'ver_1' } },
    at: 'other',
  });
});
