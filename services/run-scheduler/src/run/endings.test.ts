// The rules for a run that failed without a worker.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORKER_WAIT_MS } from './moves.ts';
import {
  answer,
  ask,
  claim,
  DEADLINE_MS,
  expireQuestion,
  facts,
  fail,
  giveBack,
  loseLease,
  recordStep,
  returnGrant,
  runs,
  succeed,
  T0,
  wake,
} from './run.fixture.ts';
import type { Run } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { stepsOf } from './step-states.ts';
import { transition } from './transition.ts';

const cleansUp = { ...facts, cleansUp: true };

function after(run: Run, command: RunCommand, atMs = T0 + 1): Run {
  const decision = transition(run, command, atMs);
  assert.ok(decision.kind === 'changed', `${command.type}: ${JSON.stringify(decision)}`);
  return decision.run;
}

test('the third lost attempt leaves one more claim, with the same number, for the cleanup', () => {
  const lost = after({ ...runs.running, facts: cleansUp, attempts: 3 }, loseLease('t1'));
  assert.equal(lost.status, 'queued');
  assert.equal(lost.ending?.error.code, 'attempts_exhausted');
  assert.deepEqual(transition(lost, { ...claim('t2'), cleansUp: false } as RunCommand, T0 + 2), {
    kind: 'refused',
    code: 'other_worker',
  });
  const cleaning = after(lost, claim('t2'), T0 + 2);
  assert.deepEqual([cleaning.status, cleaning.attempts], ['running', 3]);
  const recorded = after(cleaning, recordStep('t2', 1, 'on_failure/undo'), T0 + 3);
  for (const end of [succeed('t2', 2), fail('t2', 2), loseLease('t2')]) {
    const ended = after(recorded, end, T0 + 4);
    assert.ok(ended.status === 'failed');
    assert.deepEqual([ended.error.code, ended.ending], ['attempts_exhausted', null]);
  }
  // After a drain it continues elsewhere; its late first report does not count.
  const drained = after(recorded, giveBack('t2', 2), T0 + WORKER_WAIT_MS);
  assert.equal(drained.ending?.byMs, T0 + 2 * WORKER_WAIT_MS);
  const returned = after(cleaning, returnGrant('t2'), T0 + 5);
  assert.equal(transition(returned, recordStep('t2', 1), T0 + 6).kind, 'refused');
});

test('a version without such steps fails at once', () => {
  assert.equal(after({ ...runs.running, attempts: 3 }, loseLease('t1')).status, 'failed');
  assert.equal(after(runs.waiting, expireQuestion('q_1'), T0 + DEADLINE_MS).status, 'failed');
});

test('without a worker in time, the run ends with its error, and its record names what did not run', () => {
  const lost = after({ ...runs.running, facts: cleansUp, attempts: 3 }, loseLease('t1'));
  const dueMs = T0 + 1 + WORKER_WAIT_MS;
  assert.equal(transition(lost, wake, dueMs - 1).kind, 'refused');
  const decision = transition(lost, wake, dueMs);
  assert.ok(decision.kind === 'changed' && decision.run.status === 'failed');
  assert.equal(decision.run.error.code, 'attempts_exhausted');
  assert.match(stepsOf(decision.run).find(({ path }) => path === '@cleanup')?.error?.message ?? '', /did not run/);
  assert.deepEqual(
    decision.steps.map(({ summary }) => summary.path),
    ['@cleanup'],
  );
  assert.ok(decision.effects.some((effect) => effect.type === 'emit' && effect.event === 'failed'));
});

test('a deadline fails its step, and the next walk decides, on any worker and without a webhook so far', () => {
  const waiting = { ...runs.waiting, facts: cleansUp };
  const decision = transition(waiting, expireQuestion('q_1'), T0 + DEADLINE_MS);
  assert.ok(decision.kind === 'changed');
  const events = decision.effects.map((effect) => effect.type === 'emit' && effect.event);
  assert.deepEqual([decision.run.status, events], ['queued', ['question.closed']]);
  const [asked] = decision.steps;
  assert.deepEqual([asked?.summary.path, asked?.summary.status], ['second', 'failed']);
  assert.equal(transition(decision.run, answer('q_1', 'd1'), T0 + DEADLINE_MS + 1).kind, 'refused');
  const old = { ...claim('t2'), cleansUp: false } as RunCommand;
  const claimed = after(decision.run, old, T0 + DEADLINE_MS + 1);
  assert.equal(claimed.ending, null);
  // A worker of an earlier release does not know such a code.
  const told = { code: 'step_failed', kind: 'timeout', message: 'No answer within 3d', step: 'second' };
  const ended = after(claimed, { type: 'finish', token: 't2', seq: 1, outcome: { status: 'failed', error: told } });
  assert.equal(ended.status === 'failed' && ended.error.code, 'no_answer');
  assert.equal(after(claimed, succeed('t2', 1)).status, 'succeeded');
  const unclaimed = after(decision.run, wake, T0 + DEADLINE_MS + WORKER_WAIT_MS);
  assert.equal(unclaimed.status === 'failed' && unclaimed.error.code, 'no_answer');
});

test('a question of a cleanup and its deadline leave the run with its earlier error', () => {
  const waiting = after({ ...runs.cleaning, facts: cleansUp }, ask('t1', 3, 'q_2', DEADLINE_MS));
  const expired = after(waiting, expireQuestion('q_2'), T0 + 1 + DEADLINE_MS);
  assert.deepEqual([expired.status, expired.ending?.error.code], ['queued', 'attempts_exhausted']);
  const answered = after(waiting, answer('q_2', 'd2'), T0 + 100);
  assert.equal(answered.ending?.byMs, T0 + 100 + WORKER_WAIT_MS);
});

test('an interrupted walk leaves its cleanup to another claim, once', () => {
  const error = { code: 'step_failed', kind: 'limit', message: 'too large', step: '' };
  const broken = {
    type: 'finish',
    token: 't1',
    seq: 3,
    outcome: { status: 'failed', error, cleanupLeft: true },
  } as const;
  const ending = after({ ...runs.running, facts: cleansUp }, broken);
  assert.deepEqual([ending.status, ending.ending?.error], ['queued', error]);
  const again = after(after(ending, claim('t2'), T0 + 2), { ...broken, token: 't2', seq: 1 }, T0 + 3);
  assert.equal(again.status, 'failed');
});
