// Precondition: running, the right token, the next report. The folder named was stored before. No worker holds the run
// until its time has come; the attempt then continues. A run asked to cancel ends instead of sleeping.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision } from '../decision.ts';
import { endLease, leave } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { SleepRun } from '../run-command.ts';

export function sleepRun(run: Run | null, command: SleepRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const folderId = command.folderId ?? running.folderId;
  return changed(
    { ...leave(running, nowMs), status: 'sleeping', folderId, wakeAtMs: nowMs + command.waitMs },
    endLease(running),
  );
}
