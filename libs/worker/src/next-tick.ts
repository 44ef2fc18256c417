// The next moment at which a worker checks the runs it holds. A later one does not replace it: runs that come and go
// quickly must not postpone it.
import type { Clock, Timer } from '@methods/base/clock';

export class NextTick {
  private next: { readonly atMs: number; readonly timer: Timer } | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly tick: () => void,
  ) {}

  within(delayMs: number): void {
    const atMs = this.clock.monotonicMs() + delayMs;
    if (this.next !== null && this.next.atMs <= atMs) return;
    this.stop();
    const timer = this.clock.after(delayMs, () => {
      this.next = null;
      this.tick();
    });
    this.next = { atMs, timer };
  }

  stop(): void {
    this.next?.timer.cancel();
    this.next = null;
  }
}
