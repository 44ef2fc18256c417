// Does something at once, and then at most once in a while for each key: what comes in between waits, and only the
// newest of it is done.
import type { Clock, Timer } from '@methods/base/clock';

interface Pause {
  readonly timer: Timer;
  next: { readonly everyMs: number; readonly act: () => void } | null;
}

/** Holds one entry for each key that acted within its last interval. */
export class Pace {
  private readonly pauses = new Map<string, Pause>();

  constructor(private readonly clock: Clock) {}

  /** `act` now, or `everyMs` after the last one of this key, unless a newer one takes its place. */
  run(key: string, everyMs: number, act: () => void): void {
    const pause = this.pauses.get(key);
    if (pause !== undefined) {
      pause.next = { everyMs, act };
      return;
    }
    this.pauses.set(key, { timer: this.clock.after(everyMs, () => this.over(key)), next: null });
    act();
  }

  /** What waits is not done any more. */
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
