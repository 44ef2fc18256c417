// The owner's side of a claim: an offered place gets the oldest queued run that can still be claimed, or is returned.
import type { Clock } from '@methods/base/clock';
import { type RunId, randomToken } from '@methods/base/ids';
import type { RunActors } from '../actor/run-actors.ts';
import type { ClaimOffer } from '../queue/claim-waiters.ts';
import type { ReadyRuns } from '../queue/ready-runs.ts';
import { isReturned } from '../run/reports.ts';
import { isFinished, type Run } from '../run/run.ts';
import type { GrantDesk } from '../worker-stream/grant-desk.ts';
import { CLEANUP_FEATURE } from '../worker-stream/worker-description.ts';

/** At most this many entries that are no longer queued are skipped. */
const SKIPS_MAX = 256;
/** A run that this worker cannot take is offered again after this: another worker may have a place by then. */
const OTHER_WORKER_MS = 1_000;

export class ClaimRuns {
  private readonly returned: ReturnedRuns;

  constructor(
    private readonly options: {
      readonly ready: ReadyRuns;
      readonly actors: RunActors;
      readonly grants: GrantDesk;
      readonly clock: Clock;
    },
  ) {
    this.returned = new ReturnedRuns(options.clock);
  }

  committed(before: Run | null, after: Run): void {
    this.returned.committed(before, after);
  }

  /**
   * Returns true when a run is on its way to the place; false: the place is free again, and the queue's head is
   * announced again.
   */
  async claim(nodeId: string, offer: ClaimOffer): Promise<boolean> {
    for (let skips = 0; skips < SKIPS_MAX; skips++) {
      const entry = await this.options.ready.take(offer.key);
      if (entry === null) return false;
      if (this.returned.pauses(entry.runId, () => this.options.ready.added(offer.key, entry))) continue;
      const token = randomToken();
      this.options.grants.expect(token, { nodeId, creditId: offer.creditId });
      const outcome = await this.options.actors.tell(offer.key.orgId, entry.runId, {
        type: 'claim',
        token,
        workerSession: offer.workerSession,
        cleansUp: offer.features.includes(CLEANUP_FEATURE),
      });
      if (outcome.kind === 'accepted') return true;
      this.options.grants.forget(token);
      if (outcome.kind === 'refused' && outcome.code === 'other_worker') {
        this.options.clock.after(OTHER_WORKER_MS, () => this.options.ready.added(offer.key, entry));
      }
      if (outcome.kind === 'failed' && outcome.code === 'unavailable') {
        this.options.ready.added(offer.key, entry);
        return false;
      }
    }
    this.options.ready.tellAgain(offer.key);
    return false;
  }
}

/**
 * The pause after the second return in a row; each further return doubles it. After the first return the run is claimed
 * at once.
 */
const PAUSE_MS = 250;
const PAUSE_MAX_MS = 60_000;
const RUNS_MAX = 10_000;

interface Returns {
  readonly count: number;
  readonly untilMs: number;
  /** Whether it returns to its queue when the pause is over. */
  waits: boolean;
}

/**
 * Runs whose grants are returned again and again. A run keeps its place at the head of its queue, so without a pause a
 * run that no grant can carry would be claimed endlessly, before all others of its queue.
 */
class ReturnedRuns {
  /** By run, ordered by their last return. */
  private readonly runs = new Map<string, Returns>();

  constructor(private readonly clock: Clock) {}

  committed(before: Run | null, after: Run): void {
    const { runId } = after.facts;
    if (before?.status === 'running' && isReturned(after)) this.returned(runId);
    else if (isFinished(after) || (after.status === 'running' && after.lastSeq > 0)) this.runs.delete(runId);
  }

  /**
   * Returns false if the run may be claimed now. Otherwise `again` is called when the pause is over, for the first
   * caller.
   */
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
