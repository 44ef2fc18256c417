// The real clock, which a test may also turn forward: timers that become due fire at once.
import { type Clock, systemClock, type Timer } from '@methods/base/clock';

interface Turnable {
  readonly atMs: number;
  fire(): void;
}

export class TurnableClock implements Clock {
  private aheadMs = 0;
  private readonly timers = new Set<Turnable>();
  /** Timers that have fired. */
  fired = 0;

  wallMs(): number {
    return systemClock.wallMs() + this.aheadMs;
  }

  monotonicMs(): number {
    return systemClock.monotonicMs() + this.aheadMs;
  }

  after(delayMs: number, run: () => void): Timer {
    const real = systemClock.after(delayMs, () => timer.fire());
    const cancel = () => {
      real.cancel();
      this.timers.delete(timer);
    };
    const timer: Turnable = {
      atMs: this.monotonicMs() + delayMs,
      fire: () => {
        cancel();
        this.fired++;
        run();
      },
    };
    this.timers.add(timer);
    return { cancel };
  }

  forward(byMs: number): void {
    this.aheadMs += byMs;
    const due = [...this.timers].filter(({ atMs }) => atMs <= this.monotonicMs());
    for (const timer of due.sort((a, b) => a.atMs - b.atMs)) if (this.timers.has(timer)) timer.fire();
  }
}
