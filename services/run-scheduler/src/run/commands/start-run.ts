// Precondition: there is no such run yet. The unique key of the commit decides over repeats.
import { changed, type Decision, refused } from '../decision.ts';
import type { Run } from '../run.ts';
import type { StartRun } from '../run-command.ts';

export function startRun(run: Run | null, command: StartRun): Decision {
  if (run !== null) return refused('exists');
  return changed({
    status: 'queued',
    facts: command.facts,
    revision: 0,
    stateSinceMs: command.facts.createdAtMs,
    startedAtMs: null,
    spans: { queuedMs: 0, runningMs: 0, waitingMs: 0 },
    attempts: 0,
    attemptOpen: false,
    token: null,
    lastSeq: 0,
    steps: [],
    answer: null,
    folderId: null,
  });
}
