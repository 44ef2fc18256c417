// Precondition: running under this token, which no worker ever received or took up. The run is queued again and
// the claim that failed to arrive does not count.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision, refused } from '../decision.ts';
import { endLease, toQueued } from '../moves.ts';
import { holderOf } from '../reports.ts';
import type { Run } from '../run.ts';
import type { ReturnGrant } from '../run-command.ts';

export function returnGrant(run: Run | null, command: ReturnGrant, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  // A report was recorded under this token: the grant did arrive, and only the lease may end it.
  if (running.lastSeq > 0) return refused('not_due');
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  return changed(toQueued(running, nowMs), endLease(running));
}
