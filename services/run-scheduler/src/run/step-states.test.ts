// The reported state of each kind of step in each state of its run: a table of every pair.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer,
  ask,
  cancel,
  claim,
  expireQuestion,
  giveBack,
  loseLease,
  start,
  succeed,
  T0,
  wake,
} from './run.fixture.ts';
import type { Run, StepSummary } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { stepsOf } from './step-states.ts';
import { transition } from './transition.ts';

type Told = readonly [atMs: number, command: RunCommand];

/** Returns the run after all of these commands; a refused one changes nothing. */
function after(...told: readonly Told[]): Run {
  let run = null as Run | null;
  for (const [atMs, command] of told) {
    const decision = transition(run, command, T0 + atMs);
    assert.equal(decision.kind, 'changed', `${command.type} on ${run?.status}: ${JSON.stringify(decision)}`);
    if (decision.kind === 'changed') run = decision.run;
  }
  assert.ok(run !== null);
  return run;
}

/** A report of a step's start, or of its end with `endMs`. */
function record(token: string, seq: number, path: string, kind: string, startMs: number, endMs?: number): RunCommand {
  const ended = endMs !== undefined;
  const step: StepSummary = {
    path,
    kind,
    status: ended ? 'succeeded' : kind === 'wait' ? 'waiting' : 'running',
    attempt: 0,
    startedAtMs: T0 + startMs,
    finishedAtMs: ended ? T0 + endMs : 0,
    runningMs: ended ? endMs - startMs : 0,
    waitingMs: 0,
    checks: [],
    error: null,
  };
  return { type: 'record_step', token, seq, step, outJson: null, outWithheld: false, logTail: null, folderId: null };
}

const begin = (seq: number, path: string, kind: string, token = 't1') => record(token, seq, path, kind, 100);

/** How a run reaches each state when its step `a` of this kind began at 100. */
const KINDS: Readonly<Record<string, Readonly<Record<string, readonly Told[]>>>> = {
  node: {
    running: [],
    queued: [[300, giveBack('t1', 2)]],
    lost: [[300, loseLease('t1')]],
    again: [
      [300, loseLease('t1')],
      [400, claim('t2')],
      [420, record('t2', 1, 'a', 'node', 410)],
    ],
    succeeded: [
      [300, record('t1', 2, 'a', 'node', 100, 290)],
      [310, succeed('t1', 3)],
    ],
    cancelled: [
      [300, cancel],
      [350, { type: 'heartbeat', token: 't1' }],
    ],
    exhausted: [
      [300, loseLease('t1')],
      [400, claim('t2')],
      [420, record('t2', 1, 'a', 'node', 410)],
      [500, loseLease('t2')],
      [600, claim('t3')],
      [620, record('t3', 1, 'a', 'node', 610)],
      [700, loseLease('t3')],
    ],
  },
  'group with a step': {
    running: [[150, begin(2, 'a/b', 'node')]],
    waiting: [[300, { ...ask('t1', 2, 'q_1'), step: 'a/b' } as RunCommand]],
    exhausted: [
      [150, begin(2, 'a/b', 'node')],
      [300, loseLease('t1')],
      [400, claim('t2')],
      [500, loseLease('t2')],
      [600, claim('t3')],
      [700, loseLease('t3')],
    ],
  },
  wait: {
    running: [],
    sleeping: [[200, { type: 'sleep', token: 't1', seq: 2, waitMs: 1_000, folderId: null }]],
    woken: [
      [200, { type: 'sleep', token: 't1', seq: 2, waitMs: 1_000, folderId: null }],
      [1_200, wake],
    ],
    succeeded: [
      [200, { type: 'sleep', token: 't1', seq: 2, waitMs: 1_000, folderId: null }],
      [1_200, wake],
      [1_300, claim('t2')],
      [1_400, record('t2', 1, 'a', 'wait', 1_350, 1_350)],
      [1_400, succeed('t2', 2)],
    ],
    cancelled: [
      [200, { type: 'sleep', token: 't1', seq: 2, waitMs: 1_000, folderId: null }],
      [300, cancel],
    ],
  },
};

const askA = (seq: number) => ({ ...ask('t1', seq, 'q_1', 5_000), step: 'a' }) as RunCommand;
const asked: Told[] = [
  [0, start],
  [50, claim('t1')],
  [100, askA(1)],
];
const ASK: Readonly<Record<string, readonly Told[]>> = {
  waiting: asked,
  answered: [...asked, [1_100, answer('q_1', 'd1')]],
  running: [...asked, [1_100, answer('q_1', 'd1')], [1_200, claim('t2')]],
  succeeded: [
    ...asked,
    [1_100, answer('q_1', 'd1')],
    [1_200, claim('t2')],
    [1_300, record('t2', 1, 'a', 'ask', 1_250, 1_260)],
    [1_300, succeed('t2', 2)],
  ],
  'cancelled while it waits': [...asked, [1_100, cancel]],
  'cancelled when answered': [...asked, [1_100, answer('q_1', 'd1')], [1_200, cancel]],
  'deadline passed': [...asked, [5_100, expireQuestion('q_1')]],
};

/** Returns status, attempt, start and end since T0, running and waiting time. */
function lines(run: Run): string[] {
  return stepsOf(run).map((step) => {
    const end = step.finishedAtMs === 0 ? '-' : step.finishedAtMs - T0;
    const error = step.error === null ? '' : ` ${step.error.kind}`;
    return `${step.path} ${step.status} ${step.attempt} ${step.startedAtMs - T0}..${end} ran ${step.runningMs} waited ${step.waitingMs}${error}`;
  });
}

const TABLE = `
node, running: a running 1 100..- ran 0 waited 0
node, queued: a running 1 100..- ran 0 waited 0
node, lost: a running 1 100..- ran 0 waited 0
node, again: a running 2 410..- ran 0 waited 0
node, succeeded: a succeeded 1 100..290 ran 190 waited 0
node, cancelled: a cancelled 1 100..350 ran 250 waited 0
node, exhausted: a failed 3 610..700 ran 90 waited 0 worker_lost
group with a step, running: a running 1 100..- ran 0 waited 0 | a/b running 1 100..- ran 0 waited 0
group with a step, waiting: a waiting 1 100..- ran 0 waited 0 | a/b waiting 1 300..- ran 0 waited 0
group with a step, exhausted: a failed 1 100..700 ran 450 waited 0 worker_lost | a/b failed 1 100..700 ran 450 waited 0 worker_lost
wait, running: a waiting 1 100..- ran 0 waited 0
wait, sleeping: a waiting 1 100..- ran 0 waited 0
wait, woken: a waiting 1 100..- ran 0 waited 0
wait, succeeded: a succeeded 1 100..1350 ran 0 waited 1250
wait, cancelled: a cancelled 1 100..300 ran 0 waited 200
ask, waiting: a waiting 1 100..- ran 0 waited 0
ask, answered: a running 1 100..- ran 0 waited 1000
ask, running: a running 1 100..- ran 0 waited 1000
ask, succeeded: a succeeded 1 100..1260 ran 10 waited 1000
ask, cancelled while it waits: a cancelled 1 100..1100 ran 0 waited 1000
ask, cancelled when answered: a cancelled 1 100..1200 ran 0 waited 1000
ask, deadline passed: a failed 1 100..5100 ran 0 waited 5000 timeout
`;

test('each kind of step is reported with its true status, attempt and times in each state of its run', () => {
  const told: string[] = [];
  for (const [kind, states] of Object.entries(KINDS)) {
    const first = kind === 'group with a step' ? 'steps' : kind;
    for (const [state, commands] of Object.entries(states)) {
      const run = after([0, start], [50, claim('t1')], [100, begin(1, 'a', first)], ...commands);
      told.push(`${kind}, ${state}: ${lines(run).join(' | ')}`);
    }
  }
  for (const [state, commands] of Object.entries(ASK))
    told.push(`ask, ${state}: ${lines(after(...commands)).join(' | ')}`);
  assert.equal(`\n${told.join('\n')}\n`, TABLE);
});

test('a run that lost its last worker names the step that was running', () => {
  const lose = (n: number): Told[] => [
    [n * 100, claim(`t${n}`)],
    [n * 100 + 10, begin(1, 'a', 'steps', `t${n}`)],
    [n * 100 + 20, begin(2, 'a/b', 'node', `t${n}`)],
    [n * 100 + 50, loseLease(`t${n}`)],
  ];
  const run = after([0, start], ...lose(1), ...lose(2), ...lose(3));
  assert.ok(run.status === 'failed');
  assert.deepEqual([run.error.code, run.error.step], ['attempts_exhausted', 'a/b']);
});
