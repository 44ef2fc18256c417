// Precondition: running under the token the timer saw. Only a lost lease uses up an attempt.
import { askedCancel } from '../asked-cancel.ts';
import { changed, type Decision, refused } from '../decision.ts';
import { attemptLost } from '../moves.ts';
import { holderOf } from '../reports.ts';
import type { Run } from '../run.ts';
import type { ExpireLease } from '../run-command.ts';

export function expireLease(run: Run | null, command: ExpireLease, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const end = attemptLost(running, nowMs);
  return changed(end.run, end.effects);
}
