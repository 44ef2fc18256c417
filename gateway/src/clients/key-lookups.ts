// Orders the look-ups of unknown keys: a few of an address at a time, and other addresses before its further ones, so
// that hundreds of made-up keys do not occupy the registry and the gateway at once.
import type { Clock } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { ServiceError } from '@methods/errors/service-error';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';

/** Look-ups that wait or run, by address. */
const PLACES = { placesMax: 2_048, perOrganizationMax: 256 };
/** Every look-up may wait. */
const WAITING = { small: PLACES.perOrganizationMax, large: 0, all: PLACES.placesMax, allBytes: 0 };
const UNDER_WAY_MAX = 8;
const UNDER_WAY_ALL_MAX = 64;
const RETRY_MS = 1_000;
/** A wait for a stalled registry is no longer than one call of it. */
const WAIT_MS_MAX = 3_000;

/** `orgId` holds the address. */
interface Lookup extends QueuedJob {
  readonly begin: () => void;
}

export class KeyLookups {
  private readonly places = new Shares(PLACES);
  private readonly queue = new FairQueue<Lookup>(WAITING);
  private readonly underWay = new Map<string, number>();
  private underWayOfAll = 0;

  constructor(private readonly clock: Clock) {}

  /** @throws ServiceError rate_limited if the address sends too many; unavailable if its turn came too late */
  async run<T>(address: string, lookUp: () => Promise<T>): Promise<T> {
    const place = this.places.take(address);
    if (!place.ok) {
      const message = 'Too many keys that are not known yet come from this address.';
      throw new ServiceError('rate_limited', message, { retryAfterMs: RETRY_MS });
    }
    const beganMs = this.clock.monotonicMs();
    await new Promise<void>((begin) => {
      this.queue.add({ orgId: address, isLarge: false, bytes: 0, begin });
      this.next();
    });
    try {
      if (this.clock.monotonicMs() - beganMs > WAIT_MS_MAX) throw new ServiceError('unavailable');
      return await lookUp();
    } finally {
      place.leave();
      this.count(address, -1);
      this.next();
    }
  }

  private next(): void {
    if (this.underWayOfAll >= UNDER_WAY_ALL_MAX) return;
    const lookup = this.queue.take((address) => (this.underWay.get(address) ?? 0) < UNDER_WAY_MAX, { large: false });
    if (lookup === null) return;
    this.count(lookup.orgId, 1);
    lookup.begin();
  }

  private count(address: string, change: 1 | -1): void {
    this.underWayOfAll += change;
    const count = (this.underWay.get(address) ?? 0) + change;
    if (count > 0) this.underWay.set(address, count);
    else this.underWay.delete(address);
  }
}
