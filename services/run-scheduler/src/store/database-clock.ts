// The database's time without a query: its last clock_timestamp() and the monotonic time since. An idle node queries it
// now and then. All times in the run's rules are of this clock, so a node's own wall clock may jump.
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';

/** A reply takes less time, so a larger difference means that the server's clock was set, or is another server's. */
const JUMP_MS = 1_000;

export class DatabaseClock {
  private offsetMs = 0;
  private known = false;
  private observedAtMs = Number.NEGATIVE_INFINITY;
  private readonly jumpListeners: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  /** Called when plans made by the earlier time must be made again. */
  onJump(listener: () => void): void {
    this.jumpListeners.push(listener);
  }

  /** The time since it was last observed. */
  get ageMs(): number {
    return this.clock.monotonicMs() - this.observedAtMs;
  }

  /** Called with the clock of each commit's reply, and of each look while there are no commits. */
  observe(nowMs: number): void {
    const offsetMs = nowMs - this.clock.monotonicMs();
    // A reply takes time to arrive, so the largest offset seen is the most accurate; but the server's clock may be set
    // back.
    const jumped = this.known && Math.abs(offsetMs - this.offsetMs) > JUMP_MS;
    if (!this.known || offsetMs > this.offsetMs || jumped) this.offsetMs = offsetMs;
    this.known = true;
    this.observedAtMs = this.clock.monotonicMs();
    if (jumped) for (const listener of this.jumpListeners) listener();
  }

  nowMs(): number {
    return Math.round(this.clock.monotonicMs() + this.offsetMs);
  }
}

const FRESH_MS = 1_500;

/**
 * Queries the database for its time while no commit returns it: otherwise an idle node would not notice that the clock
 * was set, and a question would end an hour late.
 */
export class ClockLook {
  private looking = false;

  constructor(
    private readonly options: {
      readonly databaseClock: DatabaseClock;
      readonly ask: () => Promise<number>;
      readonly logger: Logger;
    },
  ) {}

  /** Called every other second. Never rejects. */
  async look(): Promise<void> {
    const { databaseClock, ask, logger } = this.options;
    if (this.looking || databaseClock.ageMs < FRESH_MS) return;
    this.looking = true;
    try {
      databaseClock.observe(await ask());
    } catch (error) {
      logger.debug({ error }, 'the clock of the database was not read');
    } finally {
      this.looking = false;
    }
  }
}
