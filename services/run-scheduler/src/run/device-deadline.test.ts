import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEADLINE_MS, expireQuestion, runs, T0 } from './run.fixture.ts';
import type { Run, WaitingRun } from './run.ts';
import type { AskRun, RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

const facts = { ...runs.waiting.facts, contentId: '0'.repeat(32), sealedBy: 'a'.repeat(32) };
const deadlineAtMs = T0 + DEADLINE_MS;
const question = { ...runs.waiting.question, deadlineAtMs, sealed: 'AQI=', hasTimeoutAnswer: true as const };
const waiting: WaitingRun = { ...runs.waiting, facts, question };

function after(run: Run, command: RunCommand): Run {
  const decision = transition(run, command, deadlineAtMs);
  assert.ok(decision.kind === 'changed', JSON.stringify(decision));
  return decision.run;
}

const asking: AskRun = {
  ...{ type: 'ask', token: 't1', seq: 3, questionId: 'q_2', step: question.step, prompt: '', details: '', show: [] },
  ...{ formJson: '', timeoutMs: DEADLINE_MS, timeoutText: '3d', folderId: null },
  ...{ isSealed: true, sealed: 'AQM=', deadlineAtMs, hasTimeoutAnswer: true },
};

test('at the deadline the worker of a run in device mode takes the answer of the source', () => {
  const answered = after(waiting, expireQuestion('q_1'));
  assert.equal(answered.status, 'queued');
  const { timedOut, answerJson, deadlineAtMs: kept } = answered.answer ?? {};
  assert.deepEqual([timedOut, answerJson, kept], [true, '', deadlineAtMs]);
  const last = answered.answers.at(-1);
  assert.deepEqual([last?.channel, last?.answerJson], ['timeout', '']);
});

test('an answer of the source that a check refused is not taken again: the next deadline fails the question', () => {
  const { answer, answers } = after(waiting, expireQuestion('q_1'));
  const again = after({ ...runs.running, facts, answer, answers }, asking);
  assert.ok(again.status === 'waiting');
  assert.deepEqual([again.question.hasTimeoutAnswer, again.question.deadlineAtMs], [undefined, deadlineAtMs]);
  assert.equal(after(again, expireQuestion('q_2')).status, 'failed');
});

test('a run takes questions of its own kind only', () => {
  const refusal = (run: Run, command: AskRun) => {
    const decision = transition(run, command, T0);
    return decision.kind === 'refused' && decision.code;
  };
  const { sealed: _, isSealed: __, ...plain } = asking;
  assert.equal(refusal({ ...runs.running, facts }, plain), 'not_sealed');
  assert.equal(refusal({ ...runs.running, facts }, { ...plain, isSealed: true }), 'not_sealed');
  assert.equal(refusal(runs.running, asking), 'not_sealed');
});
