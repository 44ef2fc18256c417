// The gate every report of a worker passes: the right attempt, in order, once.
import { type Decision, refused, unchanged } from './decision.ts';
import { attemptLost } from './moves.ts';
import type { QueuedRun, Run, RunningRun } from './run.ts';

/**
 * The running run the report belongs to, or the decision that ends it here. A report that is already recorded
 * is a repeat, also after the attempt ended with it; any other report of an attempt that is over is stale.
 */
export function admitReport(
  run: Run | null,
  report: { token: string; seq: number },
  nowMs: number,
): { run: RunningRun } | { decision: Decision } {
  if (run === null) return { decision: refused('not_found') };
  if (run.token !== report.token) return { decision: refused('stale_attempt') };
  if (isOfReturnedGrant(run, report)) {
    const counted = attemptLost(run, nowMs);
    return { decision: { kind: 'changed', ...counted, steps: [], refusal: 'stale_attempt' } };
  }
  if (report.seq <= run.lastSeq) return { decision: unchanged };
  if (run.status !== 'running') return { decision: refused('stale_attempt') };
  if (report.seq !== run.lastSeq + 1) return { decision: refused('out_of_order') };
  return { run };
}

/**
 * The grant was taken for one that reached nobody, and the run is queued again; but here is its worker's first report.
 * What it did will be done again, so the next claim is another attempt.
 */
function isOfReturnedGrant(run: Run, { seq }: { seq: number }): run is QueuedRun {
  return run.status === 'queued' && run.attemptOpen && run.lastSeq === 0 && seq === 1;
}

/** The running run that holds `token`, or null. */
export function holderOf(run: Run | null, token: string): RunningRun | null {
  return run?.status === 'running' && run.token === token ? run : null;
}
