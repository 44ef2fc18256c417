// Expired objects of the identity provider go, a batch a minute and more while there are more.
import type { Clock, Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';

const BETWEEN_MS = 60_000;

export class Sweep implements Stoppable {
  private timer: Timer | null = null;
  private stopped = false;

  constructor(
    /** Deletes some; returns how many went. */
    private readonly sweep: () => Promise<number>,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  start(): void {
    this.again();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private again(): void {
    if (!this.stopped) this.timer = this.clock.after(BETWEEN_MS, () => void this.round());
  }

  private async round(): Promise<void> {
    try {
      while ((await this.sweep()) > 0 && !this.stopped);
    } catch (error) {
      this.logger.warn({ error }, 'expired objects could not be deleted; trying again later');
    }
    this.again();
  }
}
