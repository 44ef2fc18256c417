import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Act } from '@methods/service/audit-log';
import { answer, DEADLINE_MS, expireQuestion, runs, T0 } from '../run/run.fixture.ts';
import type { Run, WaitingRun } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { transition } from '../run/transition.ts';
import { TimeoutAnswers } from './timeout-answers.ts';

const policy = { to: [], notStarter: false, needs: null, remindMs: [1], escalate: null };
const waiting: WaitingRun = {
  ...runs.waiting,
  question: {
    ...runs.waiting.question,
    formSha256: 'f0',
    versionSha256: 'e0',
    policy: { ...policy, timeoutAnswerJson: '{"choice":"secret"}' },
  },
};

/** Also the run after it. */
function noted(before: Run, command: RunCommand, atMs: number): { readonly acts: readonly Act[]; readonly run: Run } {
  const acts: Act[] = [];
  const decision = transition(before, command, atMs);
  assert.ok(decision.kind === 'changed');
  new TimeoutAnswers({ note: (act) => void acts.push(act) }).committed(before, decision.run);
  return { acts, run: decision.run };
}

test('an answer of the deadline is recorded with the facts of its receipt, and without what it says', () => {
  const { acts, run } = noted(waiting, expireQuestion('q_1'), T0 + DEADLINE_MS);
  const { orgId, runId } = waiting.facts;
  assert.deepEqual(acts, [
    {
      orgId,
      doer: { kind: 'system', id: 'deadline', ip: '', requestId: '' },
      action: 'run.answer',
      targetId: runId,
      facts: { question_id: 'q_1', channel: 'timeout', counted: 'answer', form_sha256: 'f0', version_sha256: 'e0' },
    },
  ]);
  assert.deepEqual(noted(run, { type: 'cancel' }, T0 + DEADLINE_MS + 1).acts, [], 'once');
});

test('an answer of a person, a reminder and a deadline without an answer are not recorded here', () => {
  assert.deepEqual(noted(waiting, answer('q_1', '{"choice":"yes"}'), T0 + 1).acts, []);
  assert.deepEqual(noted(waiting, expireQuestion('q_1'), T0 + 1).acts, []);
  assert.deepEqual(noted({ ...runs.waiting }, expireQuestion('q_1'), T0 + DEADLINE_MS).acts, []);
});
