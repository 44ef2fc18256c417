// The node's coarse ticks: small repeated checks that compensate for lost messages, each with its reason where it is
// added.
import type { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';

interface Tick {
  readonly everyMs: number;
  readonly run: (lateMs: number) => void;
}

export class Ticks implements Stoppable {
  private readonly ticks: Tick[] = [];
  private readonly timers = new Set<{ cancel(): void }>();
  private running = false;

  constructor(private readonly clock: Clock) {}

  /** Calls `run` with the time by which it is late, during which the node was blocked. */
  every(everyMs: number, run: (lateMs: number) => void): void {
    this.ticks.push({ everyMs, run });
  }

  start(): void {
    this.running = true;
    for (const tick of this.ticks) this.schedule(tick);
  }

  stop(): void {
    this.running = false;
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }

  // At whole multiples of its span, so that ticks of several spans wake the process once.
  private schedule(tick: Tick): void {
    const { everyMs } = tick;
    const nowMs = this.clock.monotonicMs();
    const soonMs = everyMs - (nowMs % everyMs);
    const delayMs = Math.ceil(soonMs < everyMs / 2 ? soonMs + everyMs : soonMs);
    const dueAtMs = nowMs + delayMs;
    const timer = this.clock.after(delayMs, () => {
      this.timers.delete(timer);
      if (!this.running) return;
      tick.run(this.clock.monotonicMs() - dueAtMs);
      this.schedule(tick);
    });
    this.timers.add(timer);
  }
}
