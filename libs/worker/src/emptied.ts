// Waits until a worker that leaves has let go of its runs.
import type { Clock } from '@methods/base/clock';

export class Emptied {
  private listeners: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly isEmpty: () => boolean,
  ) {}

  /** Called when a run has ended, or no more can arrive. */
  check(): void {
    if (this.isEmpty()) for (const listener of this.listeners.splice(0)) listener();
  }

  within(limitMs: number): Promise<void> {
    if (this.isEmpty()) return Promise.resolve();
    return new Promise((resolve) => {
      const limit = this.clock.after(limitMs, resolve);
      this.listeners.push(() => {
        limit.cancel();
        resolve();
      });
    });
  }
}
