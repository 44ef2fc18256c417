// Answers on this machine that the checks of their question refuse, and questions whose deadline passes.
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { CliFolder } from '../cli.fixture.ts';
import { SPEND } from './spend.fixture.ts';

const TESTED = `${SPEND}tests:
  - name: too much is asked for again
    inputs: { most: 5 }
    answers: { amount: { eur: 6 } }
    expect: { status: waiting, checks_failed: [It is within the budget] }
  - name: the check alone says as much
    inputs: { most: 5 }
    answers: { amount: { eur: 6 } }
    expect: { checks_failed: [It is within the budget] }
  - name: enough
    inputs: { most: 5 }
    answers: { amount: { eur: 5 } }
    expect: { result: { eur: 5 } }
`;
const LATE = `format: method/2
name: late
steps:
  - name: amount
    ask: How much?
    out: { eur: integer }
    limits: { timeout: 1ms }
on_failure:
  - name: undo
    in: { kind: =failure.kind, of: =failure.step }
    node: |
      return { text: kind + ' of ' + of }
    out: { text: string }
finally:
  - { name: tidy, node: step.log('tidied') }
tests:
  - name: nobody answers
    answers: { amount: { $error: { kind: timeout } } }
    expect: { status: failed, failed_step: amount }
`;

const SAY = `format: method/2
name: say
steps:
  - { name: words, ask: What?, out: { what: string } }
result: { what: =steps.words.what }
`;

const FOUR_EYES = `format: method/2
name: four-eyes
steps:
  - name: approval
    ask:
      question: Pay it?
      to: ann@example.com
      not_starter: true
      needs: { count: 1, on: [decision] }
      on_timeout: { answer: { decision: wait } }
    out: { decision: [pay, wait], note?: string }
    limits: { timeout: 2d }
result: { decision: =steps.approval.decision }
tests:
  - name: the deadline passes
    answers: { approval: { $error: { kind: timeout } } }
    expect: { status: succeeded, result: { decision: wait } }
  - name: a person answers
    answers: { approval: { decision: pay } }
    expect: { result: { decision: pay } }
`;

const folder = await CliFolder.make({
  'four-eyes.method': FOUR_EYES,
  'say.method': SAY,
  'spend.method': TESTED,
  'late.method': LATE,
  'pay.json': '{"approval": {"decision": "pay"}}',
  'what.json': '{"words": {"what": "a"}}',
  'much.json': '{"amount": {"eur": 7}}',
});
after(() => folder.remove());

interface RunDocument {
  readonly run_id: string;
  readonly status: string;
  readonly result: unknown;
  readonly error: { readonly code: string } | null;
  readonly inspection: { readonly actions: readonly { readonly path: string; readonly status: string }[] };
}

test('a wrong answer is refused with the sentence of the check, and the run keeps waiting', async () => {
  const run = await folder.json<RunDocument>(['run', 'spend.method', '--inputs', '{"most": 5}']);
  const { run_id } = run.document;
  const refused = await folder.methods(['answer', run_id, '--answer', '{"eur": 6}']);
  deepEqual([run.code, refused.code], [4, 1]);
  match(refused.stderr, /the answer to amount is refused: It is within the budget/);
  const answered = await folder.json<RunDocument>(['answer', run_id, '--answer', '{"eur": 5}']);
  deepEqual([answered.code, answered.document.result], [0, { eur: 5 }]);
  const human = await folder.methods(['run', 'spend.method', '--inputs', '{"most": 5}', '--human', 'much.json']);
  equal(human.code, 1);
  match(human.stderr, /is refused: It is within the budget/);
});

test('an answer with half of a character, or with a comment, is refused, and the run keeps waiting', async () => {
  const run = await folder.json<RunDocument>(['run', 'say.method']);
  const refused = await folder.methods(['answer', run.document.run_id, '--answer', '{"what": "a\\ud83d"}']);
  equal(refused.code, 1);
  match(refused.stderr, /the answer to words does not fit: it holds half of a character at \/what/);
  const answer = ['answer', run.document.run_id, '--answer', '{"what": "a"}'];
  // Nothing would store it here.
  const commented = await folder.quick([...answer, '--comment', 'why']);
  deepEqual([commented.code, commented.stdout], [2, '']);
  match(commented.stderr, /a local run keeps no comment/);
  const answered = await folder.methods(answer);
  equal(answered.code, 0);
});

test('in a test the question stays open, and a deadline that passes is a failure of kind timeout', async () => {
  const { code, stdout } = await folder.methods(['test', 'spend.method', 'late.method']);
  equal(code, 0, stdout);
});

test('after a deadline on_failure and finally run, and the error is that of a server', async () => {
  // A fast machine may read the question before its millisecond has passed: then it waits.
  const late = await until('a deadline has passed by the time it is looked at', async () => {
    const run = await folder.json<RunDocument>(['run', 'late.method']);
    return run.code !== 4 && run;
  });
  deepEqual([late.code, late.document.status, late.document.error?.code], [1, 'failed', 'no_answer']);
  deepEqual(
    late.document.inspection.actions.map(({ path, status }) => `${path} ${status}`),
    ['amount failed', 'on_failure/undo succeeded', 'finally/tidy succeeded'],
  );
});

test('a policy does not apply to a local run, which says so', async () => {
  const run = await folder.methods(['run', 'four-eyes.method', '--human', 'pay.json']);
  equal(run.code, 0);
  match(run.stderr, /reminders and time-out answers apply on a server only/);
  match(run.stdout, /"decision": "pay"/);
  const plain = await folder.methods(['run', 'say.method', '--human', 'what.json']);
  equal(plain.stderr.includes('on a server only'), false);
});

test('in a test a deadline that passes gives the time-out answer of the source', async () => {
  const { code, stdout } = await folder.methods(['test', 'four-eyes.method']);
  equal(code, 0, stdout);
});
