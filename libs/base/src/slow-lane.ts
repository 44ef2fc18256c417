// Lets through at once who comes now and then, and late who goes on coming too fast: what a client can ask for so grows
// with the connections it keeps and not with its speed. Meant for refusals, which clients that heed them seldom hear.
import type { Clock } from './clock.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Of one key, person or address. */
const AT_ONCE = { perSecond: 5, burst: 100 };
const LATE_MS = 1_000;
/** Beyond so many that wait, of all together, nothing more waits: each costs memory. */
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
