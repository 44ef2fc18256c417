// The owner's side of a claim: an offered place gets the oldest queued run that can still be claimed, or goes back.
import type { Clock } from '@methods/base/clock';
import { randomToken } from '@methods/base/ids';
import type { RunActors } from '../actor/run-actors.ts';
import type { ClaimOffer } from '../queue/claim-waiters.ts';
import type { ReadyRuns } from '../queue/ready-runs.ts';
import type { Run } from '../run/run.ts';
import type { GrantDesk } from '../worker-stream/grant-desk.ts';
import { CLEANUP_FEATURE } from '../worker-stream/protocol-features.ts';
import { ReturnedRuns } from './returned-runs.ts';

/** Entries that are no longer queued are skipped, this many at a time. */
const SKIPS_MAX = 256;
/** A run that this worker cannot take is offered again, for another one may have a place by then. */
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
   * True when a run is on its way to the place; false: the place is free again, and the queue's head is announced
   * again.
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
