// The database's time without asking for it: its last clock_timestamp() and the monotonic time since. All times
// in the run's rules are of this clock, so a node's own wall clock may jump.
import type { Clock } from '@methods/base/clock';

export class DatabaseClock {
  private offsetMs = 0;
  private known = false;

  constructor(private readonly clock: Clock) {}

  /** Called with the clock each commit brings back. */
  observe(nowMs: number): void {
    const offsetMs = nowMs - this.clock.monotonicMs();
    // A reply takes time to arrive, so the largest offset seen is the truest; but the server's clock may be set back.
    if (!this.known || offsetMs > this.offsetMs || this.offsetMs - offsetMs > 1_000) this.offsetMs = offsetMs;
    this.known = true;
  }

  nowMs(): number {
    return Math.round(this.clock.monotonicMs() + this.offsetMs);
  }
}
