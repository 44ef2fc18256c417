// The story of one run over time: what counts as an attempt, and the effects of cancels, questions and clocks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer,
  ask,
  cancel,
  claim,
  expireQuestion,
  fail,
  giveBack,
  heartbeat,
  loseLease,
  recordStep,
  returnGrant,
  start,
  succeed,
  T0,
} from './run.fixture.ts';
import type { Run } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

/** A command, or a command and the moment it comes, in ms after the start. */
type Told = RunCommand | readonly [atMs: number, RunCommand];

/** Returns the run after all of these commands, each of which must change it. */
function given(...told: readonly Told[]): Run {
  let run = null as Run | null;
  for (const one of told) {
    const [atMs, command] = Array.isArray(one) ? one : [0, one];
    const decision = transition(run, command, T0 + atMs);
    assert.equal(decision.kind, 'changed', `${command.type} on ${run?.status}: ${JSON.stringify(decision)}`);
    if (decision.kind === 'changed') run = decision.run;
  }
  assert.ok(run !== null);
  return run;
}

function refusalOf(run: Run, command: RunCommand, atMs = 0): string {
  const decision = transition(run, command, T0 + atMs);
  return decision.kind === 'refused' ? decision.code : decision.kind;
}

test('a run is queued before its first claim and no attempt is counted', () => {
  const run = given(start);
  assert.equal(run.status, 'queued');
  assert.equal(run.attempts, 0);
});

test('the first claim counts as an attempt', () => {
  assert.equal(given(start, claim('t1')).attempts, 1);
});

test('a claim after a lost lease counts', () => {
  assert.equal(given(start, claim('t1'), loseLease('t1')).attempts, 1);
  assert.equal(given(start, claim('t1'), loseLease('t1'), claim('t2')).attempts, 2);
});

test('an answer, a drain and an undelivered grant never count, however often they occur', () => {
  const told: Told[] = [start];
  for (let round = 0; round < 5; round++) {
    const [asks, drains, strays] = [`a${round}`, `d${round}`, `s${round}`];
    told.push(claim(asks), ask(asks, 1, `q_${round}`), answer(`q_${round}`, `answer ${round}`));
    told.push(claim(drains), giveBack(drains, 1));
    told.push(claim(strays), returnGrant(strays));
  }
  assert.equal(given(...told, claim('last')).attempts, 1);
});

test('a lease lost after an answer counts once', () => {
  const run = given(start, claim('t1'), ask('t1', 1), answer('q_2', 'd'), claim('t2'), loseLease('t2'), claim('t3'));
  assert.equal(run.attempts, 2);
});

test('the third lost worker fails the run as attempts_exhausted, and keeps the finished steps', () => {
  const twice = [start, claim('t1'), recordStep('t1', 1), loseLease('t1'), claim('t2'), loseLease('t2')];
  const run = given(...twice, claim('t3'), loseLease('t3'));
  assert.equal(run.status, 'failed');
  assert.equal(run.attempts, 3);
  assert.deepEqual(run.status === 'failed' && [run.error.code, run.error.kind], ['attempts_exhausted', 'worker_lost']);
  assert.deepEqual(
    run.steps.map((s) => s.path),
    ['first'],
  );
});

test('a failed step fails the run at once, at its first attempt', () => {
  const run = given(start, claim('t1'), fail('t1', 1));
  assert.equal(run.status, 'failed');
  assert.equal(run.attempts, 1);
  assert.equal(run.status === 'failed' && run.error.code, 'step_failed');
});

test('a worker that returns after its lease was lost can report nothing, even while no other worker has the run', () => {
  const run = given(start, claim('t1'), loseLease('t1'));
  for (const late of [recordStep('t1', 1), succeed('t1', 1), ask('t1', 1), giveBack('t1', 1), heartbeat('t1')]) {
    assert.equal(refusalOf(run, late), 'stale_attempt', late.type);
  }
});

test('a grant whose worker has reported did arrive and is not returned', () => {
  const silent = given(start, claim('t1'));
  assert.equal(refusalOf(silent, returnGrant('t1')), 'changed');
  assert.equal(refusalOf(given(start, claim('t1'), recordStep('t1', 1)), returnGrant('t1')), 'not_due');
});

test('each attempt numbers its reports from 1', () => {
  const run = given(start, claim('t1'), recordStep('t1', 1), recordStep('t1', 2, 'second'), giveBack('t1', 3));
  const again = given(start, claim('t1'), recordStep('t1', 1), giveBack('t1', 2), claim('t2'));
  assert.equal(run.lastSeq, 3);
  assert.equal(refusalOf(again, recordStep('t2', 2)), 'out_of_order');
  assert.equal(refusalOf(again, recordStep('t2', 1)), 'changed');
});

test('a recorded step has the attempt that ran it, and a new record replaces the first one', () => {
  const run = given(start, claim('t1'), recordStep('t1', 1), loseLease('t1'), claim('t2'), recordStep('t2', 1));
  assert.deepEqual(
    run.steps.map((s) => [s.path, s.attempt]),
    [['first', 2]],
  );
});

test('after an accepted cancel, every end of the attempt makes the run cancelled', () => {
  const ends = [
    succeed('t1', 1),
    fail('t1', 1),
    ask('t1', 1),
    giveBack('t1', 1),
    returnGrant('t1'),
    loseLease('t1'),
    heartbeat('t1'),
  ];
  for (const end of ends) assert.equal(given(start, claim('t1'), cancel, end).status, 'cancelled', end.type);
});

test('a step in flight when the cancel came is still recorded, and the cancel stays', () => {
  const run = given(start, claim('t1'), cancel, recordStep('t1', 1));
  assert.equal(run.steps.length, 1);
  assert.equal(run.status === 'running' && run.cancelRequested, true);
});

test('the same cancel again changes nothing, before and after it took effect', () => {
  assert.equal(refusalOf(given(start, claim('t1'), cancel), cancel), 'unchanged');
  assert.equal(refusalOf(given(start, cancel), cancel), 'unchanged');
});

test('a question that is not answered in time fails the run and quotes the deadline as the source spells it', () => {
  const run = given(start, claim('t1'), ask('t1', 1, 'q_1', 5_000), [5_000, expireQuestion('q_1')]);
  assert.equal(run.status === 'failed' && run.error.message, 'No answer within 3d');
  assert.deepEqual(run.status === 'failed' && [run.error.code, run.error.kind], ['no_answer', 'timeout']);
  assert.equal(refusalOf(run, answer('q_1', 'late')), 'run_not_waiting');
});

test('an answered question no longer expires', () => {
  const run = given(start, claim('t1'), ask('t1', 1, 'q_1', 5_000), answer('q_1', 'd'));
  assert.equal(refusalOf(run, expireQuestion('q_1'), 5_000), 'not_due');
});

test('a question without a deadline never expires', () => {
  const run = given(start, claim('t1'), ask('t1', 1, 'q_1', null));
  assert.equal(refusalOf(run, expireQuestion('q_1'), Number.MAX_SAFE_INTEGER - T0), 'not_due');
});

test('two equal answers to two successive questions both count', () => {
  const asked = [start, claim('t1'), ask('t1', 1, 'q_1'), answer(null, 'yes'), claim('t2'), ask('t2', 1, 'q_2')];
  const run = given(...asked, answer(null, 'yes'));
  assert.equal(run.status, 'queued');
  assert.equal(run.answer?.questionId, 'q_2');
});

test('a late repeat that names its question never answers the next one', () => {
  const run = given(start, claim('t1'), ask('t1', 1, 'q_1'), answer('q_1', 'yes'), claim('t2'), ask('t2', 1, 'q_2'));
  assert.equal(refusalOf(run, answer('q_1', 'yes')), 'unchanged');
  assert.equal(refusalOf(run, answer('q_1', 'no')), 'question_changed');
});

test('the time in each state is added when the run leaves it', () => {
  const run = given(
    start,
    [10, claim('t1')],
    [30, recordStep('t1', 1)],
    [110, ask('t1', 2, 'q_1')],
    [1_110, answer('q_1', 'd')],
    [1_115, claim('t2')],
    [1_120, cancel],
    [1_215, succeed('t2', 1)],
  );
  assert.deepEqual(run.spans, { queuedMs: 10 + 5, runningMs: 100 + 100, waitingMs: 1_000 });
  assert.equal(run.startedAtMs, T0 + 10);
  assert.equal(run.stateSinceMs, T0 + 1_215);
});

test('a clock that was set back neither adds nor removes time', () => {
  const run = given(start, [100, claim('t1')], [40, giveBack('t1', 1)], [50, claim('t2')]);
  assert.deepEqual(run.spans, { queuedMs: 100 + 10, runningMs: 0, waitingMs: 0 });
});

test('a folder saved with an earlier question is kept when the next question saves none', () => {
  const withFolder = { ...ask('t1', 1, 'q_1'), folderId: 'fld_1' as const } as RunCommand;
  const run = given(start, claim('t1'), withFolder, answer('q_1', 'd'), claim('t2'), ask('t2', 1, 'q_2'));
  assert.equal(run.folderId, 'fld_1');
});
