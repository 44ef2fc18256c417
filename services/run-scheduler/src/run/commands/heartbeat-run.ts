// Precondition: running under this token. Renewing the lease only changes the owner's memory; the run itself changes
// only when a cancel waits for this heartbeat.
import { changed, type Decision, refused, unchanged } from '../decision.ts';
import { toCancelled } from '../moves.ts';
import { holderOf } from '../reports.ts';
import type { Run } from '../run.ts';
import type { HeartbeatRun } from '../run-command.ts';

export function heartbeatRun(run: Run | null, command: HeartbeatRun, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  if (!running.cancelRequested) return unchanged;
  const end = toCancelled(running, nowMs);
  return changed(end.run, end.effects);
}
