// Precondition: running, the right token, the next report. A worker that drains returns the run between two steps; the
// attempt continues elsewhere and does not count again.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision } from '../decision.ts';
import { endingAgain, endLease, toQueued } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { GiveBackRun } from '../run-command.ts';

export function giveBackRun(run: Run | null, command: GiveBackRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  return changed({ ...toQueued(running, nowMs), ending: endingAgain(running, nowMs) }, endLease(running));
}
