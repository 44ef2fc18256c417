// Repeats a sweep as long as there is something to sweep: a process at rest has no timer of it.
import type { Clock, Timer } from '@methods/base/clock';

export class Sweeper {
  private timer: Timer | null = null;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
    /** True while there is more to look at. */
    private readonly sweep: () => boolean,
  ) {}

  /** There may be something from now on. */
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
