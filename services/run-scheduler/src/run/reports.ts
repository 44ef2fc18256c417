// Checks every report of a worker: the right attempt, in order, once.
import { type Decision, refused, unchanged } from './decision.ts';
import { attemptLost, returnedAttemptLost } from './moves.ts';
import { isFinished, type QueuedRun, type Run, type RunningRun } from './run.ts';

/**
 * Returns the running run that the report belongs to, or the decision that ends it here. A report that is already
 * recorded is a repeat, even after the attempt ended with it; any other report of an attempt that is over is stale.
 */
export function admitReport(
  run: Run | null,
  report: { token: string; seq: number },
  nowMs: number,
): { run: RunningRun } | { decision: Decision } {
  if (run === null) return { decision: refused('not_found') };
  if (run.token !== report.token) return { decision: ofAnotherGrant(run, report, nowMs) };
  if (isOfReturnedGrant(run, report)) {
    const counted = attemptLost(run, nowMs);
    return { decision: { kind: 'changed', ...counted, steps: [], refusal: 'stale_attempt' } };
  }
  if (report.seq <= run.lastSeq) return { decision: unchanged };
  if (run.status !== 'running') return { decision: refused('stale_attempt') };
  if (report.seq !== run.lastSeq + 1) return { decision: refused('out_of_order') };
  return { run };
}

/** The same for a report with content: what a run in device mode takes is sealed, and of no other run. */
export function admitContent(
  run: Run | null,
  report: { token: string; seq: number; isSealed?: boolean },
  nowMs: number,
): { run: RunningRun } | { decision: Decision } {
  const admitted = admitReport(run, report, nowMs);
  if ('decision' in admitted || admitted.run.facts.contentId === null || report.isSealed) return admitted;
  return { decision: refused('not_sealed') };
}

/**
 * The grant counted as undelivered, and the run is queued again; but this is its worker's first report. Its work will
 * be done again, so the next claim is another attempt.
 */
function isOfReturnedGrant(run: Run, { seq }: { seq: number }): run is QueuedRun {
  return isReturned(run) && run.ending?.kind !== 'cleanup' && seq === 1;
}

/** Reports whether the run's last grant counted as undelivered. */
export function isReturned(run: Run): boolean {
  return run.status === 'queued' && run.attemptOpen && run.lastSeq === 0;
}

/**
 * A report under another grant is always stale. The first report of the grant before the run's own one also counts that
 * attempt.
 */
function ofAnotherGrant(run: Run, { token, seq }: { token: string; seq: number }, nowMs: number): Decision {
  if (token !== run.returnedToken || seq !== 1 || isFinished(run)) return refused('stale_attempt');
  const counted = returnedAttemptLost(run, nowMs);
  if (counted === null) return refused('stale_attempt');
  return { kind: 'changed', ...counted, steps: [], refusal: 'stale_attempt' };
}

/** Returns the running run that holds `token`, or null. */
export function holderOf(run: Run | null, token: string): RunningRun | null {
  return run?.status === 'running' && run.token === token ? run : null;
}
