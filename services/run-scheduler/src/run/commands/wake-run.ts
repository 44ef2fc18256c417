// Precondition: sleeping, and its time has come by the database's clock (the commit compares it once more with that
// clock, so a node's own can never wake a run early).
import { changed, type Decision, refused } from '../decision.ts';
import { leave } from '../moves.ts';
import type { Run } from '../run.ts';

export function wakeRun(run: Run | null, nowMs: number): Decision {
  if (run?.status !== 'sleeping' || nowMs < run.wakeAtMs) return refused('not_due');
  return changed({ ...leave(run, nowMs), status: 'queued' });
}
