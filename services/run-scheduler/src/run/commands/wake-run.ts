// Ends a sleep, or a cleanup without a worker: a run that has failed and found no worker for its cleanup ends without
// it, and its record says so. Precondition: sleeping, or failed and queued for its cleanup, and its time has come by
// the database's clock (the commit compares it again with that clock, so a node's own clock never wakes a run early).
import { changed, type Decision, refused } from '../decision.ts';
import { endingAgain, leave, newSteps, toFailed, WORKER_WAIT_MS, withStep } from '../moves.ts';
import type { QueuedRun, Run, RunEnding, StepSummary } from '../run.ts';

const NO_WORKER = `No worker came within ${WORKER_WAIT_MS / 60_000}m; on_failure and finally did not run`;

export function wakeRun(run: Run | null, nowMs: number): Decision {
  if (run?.status === 'queued' && run.ending !== null && nowMs >= run.ending.byMs)
    return endWithoutCleanup(run, run.ending, nowMs);
  if (run?.status !== 'sleeping' || nowMs < run.wakeAtMs) return refused('not_due');
  return changed({ status: 'queued', ...leave(run, nowMs), ending: endingAgain(run, nowMs) });
}

function endWithoutCleanup(run: QueuedRun, { error }: RunEnding, nowMs: number): Decision {
  const missed: StepSummary = {
    path: '@cleanup',
    kind: 'check',
    status: 'failed',
    attempt: run.attempts,
    startedAtMs: run.stateSinceMs,
    finishedAtMs: nowMs,
    runningMs: 0,
    waitingMs: Math.max(0, nowMs - run.stateSinceMs),
    checks: [],
    error: { kind: 'worker_lost', message: NO_WORKER, status: 0, line: 0 },
  };
  const end = toFailed(withStep(run, missed), error, nowMs);
  return changed(end.run, end.effects, newSteps(run, missed));
}
