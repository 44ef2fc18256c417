// Precondition: running under the token the timer saw. A lost lease is the one thing that spends an attempt.
import { changed, type Decision, refused } from '../decision.ts';
import { endLease, toCancelled, toFailed, toQueued } from '../moves.ts';
import { holderOf } from '../reports.ts';
import type { Run } from '../run.ts';
import type { ExpireLease } from '../run-command.ts';

export function expireLease(run: Run | null, command: ExpireLease, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  if (running.cancelRequested) {
    const end = toCancelled(running, nowMs);
    return changed(end.run, end.effects);
  }
  if (running.attempts >= running.facts.maxAttempts) {
    const message = `The worker was lost ${running.attempts} times.`;
    const error = { code: 'attempts_exhausted', kind: 'worker_lost', message, step: '' };
    const end = toFailed(running, error, nowMs);
    return changed(end.run, end.effects);
  }
  return changed(toQueued(running, nowMs, false), endLease(running));
}
