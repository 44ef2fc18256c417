// Runs whose grants came back unaccepted, again and again: a run keeps its place at the head of its queue, so without a
// pause one that no grant can carry would be claimed without end, before all others of its queue.

import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { isReturned } from '../run/reports.ts';
import { isFinished, type Run } from '../run/run.ts';

/** After the second return in a row, and twice as long after each further one; the first is followed at once. */
const PAUSE_MS = 250;
const PAUSE_MAX_MS = 60_000;
const RUNS_MAX = 10_000;

interface Returns {
  readonly count: number;
  readonly untilMs: number;
  /** It comes back to its queue when the pause is over. */
  waits: boolean;
}

export class ReturnedRuns {
  /** By run, the one that was returned last at the end. */
  private readonly runs = new Map<string, Returns>();

  constructor(private readonly clock: Clock) {}

  committed(before: Run | null, after: Run): void {
    const { runId } = after.facts;
    if (before?.status === 'running' && isReturned(after)) this.returned(runId);
    else if (isFinished(after) || (after.status === 'running' && after.lastSeq > 0)) this.runs.delete(runId);
  }

  /** False: it may be claimed now. Otherwise `again` is called when the pause is over, for the first that asks. */
  pauses(runId: RunId, again: () => void): boolean {
    const returns = this.runs.get(runId);
    const leftMs = (returns?.untilMs ?? 0) - this.clock.monotonicMs();
    if (returns === undefined || leftMs <= 0) return false;
    if (returns.waits) return true;
    returns.waits = true;
    this.clock.after(leftMs, () => {
      returns.waits = false;
      again();
    });
    return true;
  }

  private returned(runId: RunId): void {
    const count = (this.runs.get(runId)?.count ?? 0) + 1;
    const pauseMs = count === 1 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (count - 2));
    this.runs.delete(runId);
    this.runs.set(runId, { count, untilMs: this.clock.monotonicMs() + pauseMs, waits: false });
    const [oldest] = this.runs.keys();
    if (this.runs.size > RUNS_MAX && oldest !== undefined) this.runs.delete(oldest);
  }
}
