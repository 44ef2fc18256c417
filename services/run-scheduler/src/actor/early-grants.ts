// Runs that are granted before their commit: a run of a version that only computes goes to its worker at once, and its
// start is committed together with what the worker reports, in place of two commits. It is committed without a report
// after a moment, as any other start. One timer for all.
import type { Clock, Timer } from '@methods/base/clock';

/** A grant and its report take less where it is of any use. */
const EARLY_MS = 20;
/** Reports that came in time, each against a late one's. */
const LATE_WEIGHT = 4;
const SCORE_MAX = 64;
/** Most reports were late: no run is granted early for this long. */
const PAUSE_MS = 1_000;

/** Its actor. */
export interface EarlyGrant {
  /** Commits it now; false: that has happened before. */
  commitNow(): boolean;
}

export class EarlyGrants {
  /** By their time, which is the same from each one's grant. */
  private waiting: { readonly run: EarlyGrant; readonly untilMs: number }[] = [];
  private timer: Timer | null = null;
  private score = SCORE_MAX;
  private pausedUntilMs = 0;

  constructor(private readonly clock: Clock) {}

  /** Whether it is worth while: false for a moment after reports that were late. */
  get areTimely(): boolean {
    return this.clock.monotonicMs() >= this.pausedUntilMs;
  }

  add(run: EarlyGrant): void {
    this.waiting.push({ run, untilMs: this.clock.monotonicMs() + EARLY_MS });
    this.timer ??= this.clock.after(EARLY_MS, () => this.commitLate());
  }

  private commitLate(): void {
    const nowMs = this.clock.monotonicMs();
    const due = this.waiting.findIndex(({ untilMs }) => untilMs > nowMs);
    const over = this.waiting.splice(0, due < 0 ? this.waiting.length : due);
    for (const { run } of over) this.count(run.commitNow(), nowMs);
    const [next] = this.waiting;
    this.timer = next === undefined ? null : this.clock.after(next.untilMs - nowMs, () => this.commitLate());
  }

  private count(wasLate: boolean, nowMs: number): void {
    this.score = Math.min(SCORE_MAX, this.score + (wasLate ? -LATE_WEIGHT : 1));
    if (this.score > 0) return;
    this.score = SCORE_MAX / 2;
    this.pausedUntilMs = nowMs + PAUSE_MS;
  }
}
