// Repeats a sweep while there is work for it, so that an idle process has no timer.
import type { Clock, Timer } from '@methods/base/clock';

export class Sweeper {
  private timer: Timer | null = null;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
    /** Returns true while there is more work. */
    private readonly sweep: () => boolean,
  ) {}

  /** There may be work from now on. */
  wake(): void {
    if (this.timer !== null || this.stopped) return;
    this.timer = this.clock.after(this.everyMs, () => {
      this.timer = null;
      if (this.sweep()) this.wake();
    });
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.timer = null;
  }
}
