import { ClaimWaiters } from './claim-waiters.ts';

export type { ClaimOffer } from './claim-waiters.ts';

/** Counts the places that are free. */
export class CountedWaiters extends ClaimWaiters {
  freePlaces(): number {
    let free = 0;
    for (const worker of this.workers.values()) free += worker.free;
    return free;
  }
}
