// Precondition: running under this token. Renewing the lease only changes the owner's memory; the run itself changes
// only when a cancel waits for this heartbeat.
import { askedCancel } from '../asked-cancel.ts';
import { type Decision, refused, unchanged } from '../decision.ts';
import { holderOf } from '../reports.ts';
import type { Run } from '../run.ts';
import type { HeartbeatRun } from '../run-command.ts';

export function heartbeatRun(run: Run | null, command: HeartbeatRun, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  return askedCancel(running, nowMs) ?? unchanged;
}
