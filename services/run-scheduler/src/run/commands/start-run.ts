// Precondition: the run does not exist yet. The unique key of the commit detects repeats.
import { changed, type Decision, refused } from '../decision.ts';
import type { QueuedRun, Run } from '../run.ts';
import type { KeptBeginning, StartRun } from '../run-command.ts';

const NOTHING_KEPT: KeptBeginning = { steps: [], folderId: null };

export function startRun(run: Run | null, command: StartRun): Decision {
  if (run !== null) return refused('exists');
  const { facts, kept = NOTHING_KEPT } = command;
  const start: QueuedRun = {
    status: 'queued',
    facts,
    revision: 0,
    stateSinceMs: facts.createdAtMs,
    startedAtMs: null,
    spans: { queuedMs: 0, runningMs: 0, waitingMs: 0 },
    attempts: 0,
    attemptOpen: false,
    token: null,
    returnedToken: null,
    // Notes for the store that there are steps from before an attempt; every claim begins at 0.
    lastSeq: kept.steps.length,
    steps: kept.steps.map((step) => step.summary),
    answer: null,
    answers: [],
    folderId: kept.folderId,
    ending: null,
  };
  return changed(start, [], kept.steps);
}
