import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { RunStatus, RunTimingSchema, RunViewSchema, StepStatus } from '@methods/proto/run/v1/run_pb';
import { GetQueuePlaceResponseSchema } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import { isQueued, pendingView } from './pending-view.ts';

const SINCE_MS = Date.parse('2026-01-31T12:00:00.000Z');
const since = '2026-01-31T12:00:00.000Z';
const run = (more: MessageInitShape<typeof RunViewSchema>) =>
  create(RunViewSchema, { timing: create(RunTimingSchema, { stateSinceMs: SINCE_MS }), ...more });
const place = create(GetQueuePlaceResponseSchema, { queuedAtMs: 5, ahead: 12, needs: ['python'] });

test('a queued run says what it lacks, or how many are ahead of it', () => {
  const queued = run({ status: RunStatus.QUEUED });
  const detail = { ahead: 12, ahead_more: false, needs: ['python'] };
  assert.deepEqual(pendingView(queued, place), { reason: 'in_queue', since, detail });
  for (const reason of ['no_worker', 'feature_missing', 'key_missing'] as const) {
    assert.equal(pendingView({ ...queued, queuedReason: reason }, place)?.reason, reason);
  }
  assert.deepEqual(pendingView(queued, null), { reason: 'in_queue', since, detail: {} });
  assert.deepEqual(pendingView({ ...queued, attempts: 2, maxAttempts: 3 }, null)?.detail, {
    attempts: 2,
    max_attempts: 3,
  });
});

test('a sleeping run says until when, and in which step', () => {
  const steps = [
    { path: 'a', status: StepStatus.SUCCEEDED },
    { path: 'pause', status: StepStatus.WAITING },
  ];
  const asleep = run({ status: RunStatus.QUEUED, queuedReason: 'sleeping', wakeAtMs: SINCE_MS + 1_000, steps });
  assert.equal(isQueued(asleep), false);
  assert.deepEqual(pendingView(asleep, null), {
    reason: 'sleeping',
    since,
    detail: { until: '2026-01-31T12:00:01.000Z', step: 'pause' },
  });
});

test('a waiting run says whose answer it waits for', () => {
  const question = {
    id: 'q_1' as const,
    step: 'approve',
    deadlineAtMs: SINCE_MS,
    assignee: 'usr_1',
    policy: { to: ['admin'], needs: 2 },
    votes: [{}],
  };
  assert.deepEqual(pendingView(run({ status: RunStatus.WAITING, question }), null)?.detail, {
    question_id: 'q_1',
    step: 'approve',
    due_at: since,
    assignee: 'usr_1',
    to: ['admin'],
    needs: 2,
    votes_given: 1,
  });
  const plain = pendingView(run({ status: RunStatus.WAITING, question: { id: 'q_1', step: 'a' } }), null);
  assert.deepEqual(plain?.detail, { question_id: 'q_1', step: 'a', due_at: null });
});

test('a run that moves or has finished says nothing, unless it is being cancelled', () => {
  for (const status of [RunStatus.RUNNING, RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED]) {
    assert.equal(pendingView(run({ status }), null), null);
  }
  const cancelling = run({ status: RunStatus.RUNNING, cancelRequested: true });
  assert.deepEqual(pendingView(cancelling, null), { reason: 'cancelling', since, detail: {} });
});
