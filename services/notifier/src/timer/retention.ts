// Lets ended deliveries go when their time is over, a little at a time.
import type { Clock, Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';

const BATCH = 500;
const BETWEEN_BATCHES_MS = 1_000;
const BETWEEN_ROUNDS_MS = 3_600_000;

export class Retention implements Stoppable {
  private timer: Timer | null = null;
  private stopped = false;

  constructor(
    /** Deletes at most `limit`; returns how many went. */
    private readonly forget: (limit: number) => Promise<number>,
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly logger: Logger,
  ) {}

  /** The first round comes at a random moment of the first hour, so that replicas do not all work at once. */
  start(): void {
    this.again(BETWEEN_ROUNDS_MS * this.random());
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private again(delayMs: number): void {
    if (!this.stopped) this.timer = this.clock.after(delayMs, () => void this.round());
  }

  private async round(): Promise<void> {
    try {
      const gone = await this.forget(BATCH);
      this.again(gone === BATCH ? BETWEEN_BATCHES_MS : BETWEEN_ROUNDS_MS);
    } catch (error) {
      this.logger.warn({ error }, 'old deliveries could not be deleted; trying again later');
      this.again(BETWEEN_ROUNDS_MS);
    }
  }
}
