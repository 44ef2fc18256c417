// Lets occasional calls pass at once and delays those that come too fast, so that a client's rate depends on its number
// of connections, not on its speed. Meant for refusals: a client that respects them rarely gets one.
import type { Clock } from './clock.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Per key, person or address. */
const AT_ONCE = { perSecond: 5, burst: 100 };
const LATE_MS = 1_000;
/** Calls that may wait, for all keys together: each costs memory. Beyond this, calls pass at once. */
const WAITING_MAX = 10_000;

export class SlowLane {
  private readonly buckets: TokenBuckets;
  private waiting = 0;

  constructor(private readonly clock: Clock) {
    this.buckets = new TokenBuckets({ clock, ...AT_ONCE });
  }

  /** Calls `go` before it returns, or a second later. */
  pass(who: string, go: () => void): void {
    if (this.buckets.take(who).allowed || this.waiting >= WAITING_MAX) return go();
    this.waiting++;
    this.clock.after(LATE_MS, () => {
      this.waiting--;
      go();
    });
  }
}
