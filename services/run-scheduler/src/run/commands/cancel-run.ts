// Queued, sleeping and waiting runs end at once. A running one is marked; the worker is notified, and the run ends with
// its next heartbeat or report, or with its lease. Finished runs refuse; for cancelled ones it is a repeat.
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { newSteps, toCancelled, withStep } from '../moves.ts';
import type { Run } from '../run.ts';
import { endOfQuestion } from '../step-states.ts';

export function cancelRun(run: Run | null, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  switch (run.status) {
    case 'queued':
    case 'sleeping':
    case 'waiting': {
      const asked = endOfQuestion(run, 'cancelled', nowMs, null);
      const end = toCancelled(withStep(run, asked), nowMs);
      return changed(end.run, end.effects, newSteps(run, asked));
    }
    case 'running':
      if (run.cancelRequested) return unchanged;
      return changed({ ...run, cancelRequested: true }, [
        { type: 'notify_cancel', token: run.token, workerSession: run.workerSession },
      ]);
    case 'cancelled':
      return unchanged;
    default:
      return refused('run_finished');
  }
}
