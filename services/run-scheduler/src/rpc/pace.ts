// Throttles an action for each key: runs it at once, then at most once in an interval, with only the newest value of
// those that arrived meanwhile.
import type { Clock, Timer } from '@methods/base/clock';

interface Pause {
  readonly timer: Timer;
  next: { readonly everyMs: number; readonly act: () => void } | null;
}

/** Holds one entry for each key that acted within its last interval. */
export class Pace {
  private readonly pauses = new Map<string, Pause>();

  constructor(private readonly clock: Clock) {}

  /** Runs `act` now, or `everyMs` after the key's last one, unless a newer one replaces it. */
  run(key: string, everyMs: number, act: () => void): void {
    const pause = this.pauses.get(key);
    if (pause !== undefined) {
      pause.next = { everyMs, act };
      return;
    }
    this.pauses.set(key, { timer: this.clock.after(everyMs, () => this.over(key)), next: null });
    act();
  }

  /** Drops the waiting action. */
  forget(key: string): void {
    this.pauses.get(key)?.timer.cancel();
    this.pauses.delete(key);
  }

  private over(key: string): void {
    const next = this.pauses.get(key)?.next;
    this.pauses.delete(key);
    if (next) this.run(key, next.everyMs, next.act);
  }
}
