// Precondition: running, the right token, the next report. The folder named was stored before. No worker holds the run
// until its time has come; the attempt then continues. A run asked to cancel ends instead of sleeping.
import { changed, type Decision } from '../decision.ts';
import { endLease, leave, toCancelled } from '../moves.ts';
import { admitReport } from '../reports.ts';
import type { Run } from '../run.ts';
import type { SleepRun } from '../run-command.ts';

export function sleepRun(run: Run | null, command: SleepRun, nowMs: number): Decision {
  const admitted = admitReport(run, command, nowMs);
  if ('decision' in admitted) return admitted.decision;
  const running = { ...admitted.run, lastSeq: command.seq };
  if (running.cancelRequested) {
    const end = toCancelled(running, nowMs);
    return changed(end.run, end.effects);
  }
  const folderId = command.folderId ?? running.folderId;
  return changed(
    { ...leave(running, nowMs), status: 'sleeping', folderId, wakeAtMs: nowMs + command.waitMs },
    endLease(running),
  );
}
