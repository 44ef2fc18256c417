// A clock that only advances when a test moves it.
import type { Clock } from '@methods/base/clock';

export class ManualClock implements Clock {
  private nowMs = 1_000_000;
  private timers: { readonly atMs: number; readonly run: () => void }[] = [];

  wallMs(): number {
    return this.nowMs;
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  after(delayMs: number, run: () => void) {
    const timer = { atMs: this.nowMs + delayMs, run };
    this.timers.push(timer);
    return {
      cancel: () => {
        this.timers = this.timers.filter((t) => t !== timer);
      },
    };
  }

  forward(byMs: number): void {
    this.nowMs += byMs;
    const due = this.timers.filter((t) => t.atMs <= this.nowMs).sort((a, b) => a.atMs - b.atMs);
    this.timers = this.timers.filter((t) => t.atMs > this.nowMs);
    for (const { run } of due) run();
  }
}
