// The commands that give a queued run to a worker and take it back: a claim, a lost lease, a returned grant.
import { changed, type Decision, refused } from '../decision.ts';
import { askedCancel, attemptLost, bookSpan, endLease, toQueued } from '../moves.ts';
import { holderOf, isReturned } from '../reports.ts';
import type { Run } from '../run.ts';
import type { ClaimRun, ExpireLease, ReturnGrant } from '../run-command.ts';

/**
 * Precondition: queued. Only the first claim and a claim after a lost lease count as an attempt. After an answer, an
 * undelivered grant or a drained worker, the attempt continues.
 */
export function claimRun(run: Run | null, command: ClaimRun, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'queued') return refused('not_queued');
  const isCleanup = run.ending?.kind === 'cleanup';
  // A worker of an earlier release would run the steps again.
  if (isCleanup && !command.cleansUp) return refused('other_worker');
  return changed(
    {
      status: 'running',
      facts: run.facts,
      revision: run.revision,
      stateSinceMs: nowMs,
      startedAtMs: run.startedAtMs ?? nowMs,
      spans: bookSpan(run, nowMs),
      attempts: run.attemptOpen ? run.attempts : run.attempts + 1,
      attemptOpen: true,
      token: command.token,
      returnedToken: isReturned(run) ? run.token : run.returnedToken,
      lastSeq: 0,
      steps: run.steps,
      answer: run.answer,
      answers: run.answers,
      folderId: run.folderId,
      ending: isCleanup ? run.ending : null,
      workerSession: command.workerSession,
      cancelRequested: false,
    },
    [{ type: 'grant', token: command.token, workerSession: command.workerSession }],
  );
}

/** Precondition: running under the token that the timer saw. Only a lost lease uses up an attempt. */
export function expireLease(run: Run | null, command: ExpireLease, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  const end = attemptLost(running, nowMs);
  return changed(end.run, end.effects);
}

/**
 * Precondition: running under this token, which no worker received or used. The run is queued again, and the claim does
 * not count.
 */
export function returnGrant(run: Run | null, command: ReturnGrant, nowMs: number): Decision {
  const running = holderOf(run, command.token);
  if (running === null) return refused('stale_attempt');
  // A report was recorded under this token, so the grant did arrive, and only the lease may end it.
  if (running.lastSeq > 0) return refused('not_due');
  const cancelled = askedCancel(running, nowMs);
  if (cancelled !== null) return cancelled;
  return changed(toQueued(running, nowMs), endLease(running));
}
