import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type RunError,
  RunStatus,
  type RunTiming,
  type RunView,
  StepStatus,
  type StepView,
} from '@methods/proto/run/v1/run_pb';
import { queuedRun, runTiming } from '../testing/queued-run.fixture.ts';
import { runViewJson } from './run-view.ts';

const STEPS = [
  { name: 'fetch', kind: 'http' },
  { name: 'check', kind: 'node' },
  { name: 'approve', kind: 'ask' },
];
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function run(changes: Partial<RunView> = {}): RunView {
  const facts = { runId: 'run_0', method: 'wf_0', versionId: 'ver_0', createdAtMs: NOW - 10_000 } as const;
  return queuedRun(facts, { timing: timing(), ...changes });
}

function timing(changes: Partial<RunTiming> = {}): RunTiming {
  return runTiming(NOW - 10_000, { stateSinceMs: NOW - 1_000, ...changes });
}

function step(changes: Partial<StepView>): StepView {
  return {
    $typeName: 'methods.run.v1.StepView',
    path: 'fetch',
    kind: 'http',
    status: StepStatus.SUCCEEDED,
    attempt: 1,
    startedAtMs: NOW - 900,
    finishedAtMs: NOW - 400,
    runningMs: 500,
    waitingMs: 0,
    checks: [],
    ...changes,
  };
}

const QUESTION = {
  $typeName: 'methods.run.v1.Question' as const,
  id: 'q_0' as const,
  step: 'approve',
  prompt: 'Pay "all"?',
  details: '',
  show: [{ $typeName: 'methods.run.v1.ShownValue' as const, path: 'steps.fetch.total', valueJson: '{"a":[1,2.50]}' }],
  formJson: '{"type":"object","properties":{}}',
  askedAtMs: NOW - 1_000,
  deadlineAtMs: NOW + 60_000,
  votes: [],
  assignee: '',
  delegations: [],
  escalatedAtMs: 0,
  formSha256: '',
  versionSha256: '',
  sealed: new Uint8Array(),
  hasTimeoutAnswer: false,
};

const view = (changes: Partial<RunView> = {}) => JSON.parse(runViewJson(run(changes), STEPS, NOW));
const statuses = (changes: Partial<RunView>) =>
  view(changes).steps.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`);

test('a queued run has every documented field, unknown times null, and the open span counted', () => {
  const pending = (name: string, kind: string) => ({
    name,
    kind,
    status: 'pending',
    attempt: 0,
    timing: { started_at: null, finished_at: null, running_ms: 0, waiting_ms: 0 },
    checks: [],
  });
  assert.deepEqual(view({ timing: timing({ queuedMs: 250 }), metadata: { '"k\n': 'ä"' } }), {
    run_id: 'run_0',
    method: 'wf_0',
    version_id: 'ver_0',
    status: 'queued',
    attempts: 0,
    max_attempts: 3,
    run_data: 'account',
    answer_by: 'team',
    metadata: { '"k\n': 'ä"' },
    timing: {
      created_at: '2026-01-02T03:03:55.678Z',
      started_at: null,
      waiting_since: null,
      finished_at: null,
      queued_ms: 1_250,
      running_ms: 0,
      waiting_ms: 0,
    },
    steps: [pending('fetch', 'http'), pending('check', 'node'), pending('approve', 'ask')],
  });
});

test('the first step a running run has not recorded is its current one', () => {
  assert.deepEqual(statuses({ status: RunStatus.RUNNING }), ['fetch running', 'check pending', 'approve pending']);
  const recorded = [step({})];
  assert.deepEqual(statuses({ status: RunStatus.RUNNING, steps: recorded }), [
    'fetch succeeded',
    'check running',
    'approve pending',
  ]);
  assert.deepEqual(statuses({ status: RunStatus.QUEUED, steps: recorded }).at(1), 'check pending');
});

test('the current step of a run is the one recorded as begun, and no later step runs', () => {
  const begun = step({ path: 'check', kind: 'node', status: StepStatus.RUNNING, finishedAtMs: 0, runningMs: 0 });
  const steps = [step({}), begun];
  const shown = ['fetch succeeded', 'check running', 'approve pending'];
  assert.deepEqual(statuses({ status: RunStatus.RUNNING, steps }), shown);
});

test('a step that was begun waits while its run asks whether it took effect', () => {
  const begun = step({ path: 'check', kind: 'node', status: StepStatus.RUNNING, finishedAtMs: 0, runningMs: 0 });
  const question = { ...QUESTION, step: 'check' };
  const steps = view({ status: RunStatus.WAITING, steps: [step({}), begun], question }).steps;
  assert.deepEqual([steps[1].status, steps[1].timing.running_ms, steps[1].timing.waiting_ms], ['waiting', 0, 1_000]);
});

test('steps that an ended run never reached are cancelled or skipped, and the step it failed in failed', () => {
  const steps = [step({})];
  assert.deepEqual(statuses({ status: RunStatus.CANCELLED, steps }).slice(1), ['check cancelled', 'approve cancelled']);
  const error = {
    $typeName: 'methods.run.v1.RunError' as const,
    code: 'step_failed',
    kind: '',
    message: 'm',
    step: 'check',
  };
  assert.deepEqual(statuses({ status: RunStatus.FAILED, steps, error }).slice(1), ['check failed', 'approve skipped']);
});

test('a waiting run shows its question, and the open wait is counted in the run and its step', () => {
  const shown = view({
    status: RunStatus.WAITING,
    attempts: 1,
    steps: [step({}), step({ path: 'check', kind: 'node' })],
    timing: timing({ waitingSinceMs: NOW - 1_000, startedAtMs: NOW - 5_000 }),
    question: QUESTION,
  });
  assert.deepEqual(shown.question, {
    id: 'q_0',
    step: 'approve',
    prompt: 'Pay "all"?',
    show: [{ path: 'steps.fetch.total', value: { a: [1, 2.5] } }],
    form: { type: 'object', properties: {} },
    asked_at: '2026-01-02T03:04:04.678Z',
    deadline_at: '2026-01-02T03:05:05.678Z',
  });
  assert.equal(shown.timing.waiting_ms, 1_000);
  assert.equal(shown.timing.waiting_since, '2026-01-02T03:04:04.678Z');
  assert.deepEqual(shown.steps[2].timing, {
    started_at: '2026-01-02T03:04:04.678Z',
    finished_at: null,
    running_ms: 0,
    waiting_ms: 1_000,
  });
});

test('the current step of a running run has a start and the time since then', () => {
  const timings = (changes: Partial<RunView>) => view({ status: RunStatus.RUNNING, attempts: 1, ...changes }).steps;
  const [first] = timings({});
  assert.deepEqual(first.timing, {
    started_at: '2026-01-02T03:04:04.678Z',
    finished_at: null,
    running_ms: 1_000,
    waiting_ms: 0,
  });
  const [, second, third] = timings({ steps: [step({})] });
  assert.deepEqual([second.timing.running_ms, second.attempt, third.timing.started_at], [400, 1, null]);
  const begun = step({
    path: 'check',
    status: StepStatus.RUNNING,
    startedAtMs: NOW - 300,
    finishedAtMs: 0,
    runningMs: 0,
  });
  assert.equal(timings({ steps: [step({}), begun] })[1].timing.running_ms, 300);
  const before = { ...begun, startedAtMs: NOW - 60_000, waitingMs: 50_000 };
  const [, answered] = timings({ steps: [step({}), before] });
  assert.deepEqual([answered.timing.running_ms, answered.timing.waiting_ms], [1_000, 50_000]);
});

test('a run that failed inside a step failed in that step', () => {
  const error = {
    $typeName: 'methods.run.v1.RunError' as const,
    code: 'step_failed',
    kind: '',
    message: 'm',
    step: 'check/b',
  };
  const shown = ['fetch succeeded', 'check failed', 'approve skipped'];
  assert.deepEqual(statuses({ status: RunStatus.FAILED, steps: [step({})], error }), shown);
});

test('a step recorded as begun ends as its run does', () => {
  const begun = step({ path: 'check', kind: 'node', status: StepStatus.RUNNING, finishedAtMs: 0, runningMs: 0 });
  const shown = (changes: Partial<RunView>) => view({ steps: [begun], ...changes }).steps[1].status;
  assert.equal(shown({ status: RunStatus.RUNNING }), 'running');
  assert.equal(shown({ status: RunStatus.QUEUED }), 'pending', 'its worker was lost');
  assert.equal(shown({ status: RunStatus.CANCELLED }), 'cancelled');
  const error = { $typeName: 'methods.run.v1.RunError', code: 'attempts_exhausted', kind: 'worker_lost', message: 'x' };
  assert.equal(shown({ status: RunStatus.FAILED, error: { ...error, step: 'check' } as RunError }), 'failed');
  assert.equal(shown({ status: RunStatus.FAILED, error: { ...error, step: '' } as RunError }), 'cancelled');
});

test('a sleeping run is queued with a reason and a time, and its sleep counts as waiting', () => {
  const asleep = step({ path: 'check', kind: 'wait', status: StepStatus.WAITING, finishedAtMs: 0, runningMs: 0 });
  const shown = view({ steps: [asleep], queuedReason: 'sleeping', wakeAtMs: NOW + 60_000 });
  assert.equal(shown.status, 'queued');
  assert.equal(shown.queued_reason, 'sleeping');
  assert.equal(shown.not_before, new Date(NOW + 60_000).toISOString());
  assert.deepEqual([shown.timing.queued_ms, shown.timing.waiting_ms], [0, 1_000]);
  assert.deepEqual([shown.steps[1].status, shown.steps[1].timing.waiting_ms], ['waiting', 900]);
  assert.equal(view({ queuedReason: 'feature_missing' }).queued_reason, 'feature_missing');
  assert.ok(!('queued_reason' in view()), 'somebody may take it');
});

test('only a succeeded run has a result, and only a failed one an error', () => {
  assert.deepEqual(view({ status: RunStatus.SUCCEEDED, resultJson: '{"n":1e2}' }).result, { n: 100 });
  assert.ok(!('result' in view({ status: RunStatus.FAILED, resultJson: '{}' })));
  const error = {
    $typeName: 'methods.run.v1.RunError' as const,
    code: 'no_answer',
    kind: 'timeout',
    message: 'No answer within 3d',
    step: 'approve',
  };
  const failed = view({ status: RunStatus.FAILED, error });
  assert.deepEqual(failed.error, {
    code: 'no_answer',
    kind: 'timeout',
    message: 'No answer within 3d',
    step: 'approve',
  });
  assert.ok(!('error' in view({ status: RunStatus.SUCCEEDED, error })));
});

test('records below a step follow it, with checks and errors', () => {
  const shown = view({
    status: RunStatus.FAILED,
    steps: [
      step({ path: 'fetch[0]' }),
      step({
        path: 'fetch[1]',
        status: StepStatus.FAILED,
        checks: [
          { $typeName: 'methods.run.v1.StepCheck', name: 'paid', phase: 'ensure', status: 'failed', message: 'no' },
        ],
        error: {
          $typeName: 'methods.run.v1.StepError',
          kind: 'http',
          message: 'status 500',
          status: 500,
          line: 0,
          reason: 'Oops',
          headers: { 'retry-after': '3' },
          body: '{"a":1}',
        },
      }),
      step({ path: 'fetch' }),
      step({ path: 'elsewhere' }),
    ],
  });
  assert.deepEqual(
    shown.steps.map(({ name }: { name: string }) => name),
    ['fetch', 'fetch[0]', 'fetch[1]', 'check', 'approve', 'elsewhere'],
  );
  assert.deepEqual(shown.steps[2].checks, [{ name: 'paid', phase: 'ensure', status: 'failed', message: 'no' }]);
  assert.deepEqual(shown.steps[2].error, {
    kind: 'http',
    message: 'status 500',
    status: 500,
    reason: 'Oops',
    headers: { 'retry-after': '3' },
    body: '{"a":1}',
  });
});
