// Precondition: queued. Only the first claim and a claim after a lost lease count as an attempt: an answer, a grant
// that reached no worker and a worker that drained continue the attempt they had.
import { changed, type Decision, refused } from '../decision.ts';
import { leave } from '../moves.ts';
import { isReturned } from '../reports.ts';
import type { Run } from '../run.ts';
import type { ClaimRun } from '../run-command.ts';

export function claimRun(run: Run | null, command: ClaimRun, nowMs: number): Decision {
  if (run === null) return refused('not_found');
  if (run.status !== 'queued') return refused('not_queued');
  const isCleanup = run.ending?.kind === 'cleanup';
  // A worker of an earlier release would run its steps again.
  if (isCleanup && !command.cleansUp) return refused('other_worker');
  return changed(
    {
      ...leave(run, nowMs),
      status: 'running',
      startedAtMs: run.startedAtMs ?? nowMs,
      attempts: run.attemptOpen ? run.attempts : run.attempts + 1,
      attemptOpen: true,
      token: command.token,
      returnedToken: isReturned(run) ? run.token : run.returnedToken,
      workerSession: command.workerSession,
      lastSeq: 0,
      cancelRequested: false,
      ending: isCleanup ? run.ending : null,
    },
    [{ type: 'grant', token: command.token, workerSession: command.workerSession }],
  );
}
