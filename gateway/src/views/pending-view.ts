// Why a run does not move, since when, and what would move it: facts, from which a page makes its sentence.
import { RunStatus, type RunView, StepStatus } from '@methods/proto/run/v1/run_pb';
import type { GetQueuePlaceResponse } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import { timeView } from './party-view.ts';

const REASONS = [
  'no_worker',
  'feature_missing',
  'key_missing',
  'in_queue',
  'sleeping',
  'question',
  'cancelling',
] as const;
export type PendingReason = (typeof REASONS)[number];
export const PENDING_REASONS: readonly PendingReason[] = REASONS;

export interface PendingView {
  readonly reason: PendingReason;
  readonly since: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Reports whether the place of the run in its queue is needed. */
export function isQueued(run: RunView): boolean {
  return run.status === RunStatus.QUEUED && run.wakeAtMs === 0;
}

/** `place`: of a queued run; null: unknown. Returns null for a run that moves or has finished. */
export function pendingView(run: RunView, place: GetQueuePlaceResponse | null): PendingView | null {
  const since = timeView(run.timing?.stateSinceMs ?? 0);
  switch (run.status) {
    case RunStatus.RUNNING:
      return run.cancelRequested ? { reason: 'cancelling', since, detail: {} } : null;
    case RunStatus.WAITING:
      return { reason: 'question', since, detail: questionDetail(run) };
    case RunStatus.QUEUED:
      return run.wakeAtMs > 0
        ? { reason: 'sleeping', since, detail: { until: timeView(run.wakeAtMs), ...stepAsleep(run) } }
        : { reason: queueReason(run), since, detail: queueDetail(run, place) };
    default:
      return null;
  }
}

function queueReason({ queuedReason }: RunView): PendingReason {
  const known = ['no_worker', 'feature_missing', 'key_missing'] as const;
  return known.find((reason) => reason === queuedReason) ?? 'in_queue';
}

function queueDetail({ attempts, maxAttempts }: RunView, place: GetQueuePlaceResponse | null) {
  return {
    ...(place !== null && place.queuedAtMs > 0 && { ahead: place.ahead, ahead_more: place.more }),
    ...(place !== null && place.needs.length > 0 && { needs: place.needs }),
    // It has lost a worker, or has begun and was given back.
    ...(attempts > 0 && { attempts, max_attempts: maxAttempts }),
  };
}

function stepAsleep({ steps }: RunView) {
  const step = steps.findLast(({ status }) => status === StepStatus.WAITING);
  return step === undefined ? {} : { step: step.path };
}

function questionDetail({ question }: RunView) {
  if (question === undefined) return {};
  const { policy, votes, assignee } = question;
  return {
    question_id: question.id,
    step: question.step,
    due_at: timeView(question.deadlineAtMs),
    ...(assignee !== '' && { assignee }),
    ...(policy !== undefined && policy.to.length > 0 && { to: policy.to }),
    ...(policy !== undefined && policy.needs > 0 && { needs: policy.needs, votes_given: votes.length }),
  };
}
