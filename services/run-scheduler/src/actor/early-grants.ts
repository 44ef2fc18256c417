// Runs that are granted before their commit: a run of a version that only computes goes to its worker at once, and its
// start is committed together with the worker's report, in one commit instead of two. Without a report it is committed
// after a moment, like any other start. Versions whose reports are mostly late are excluded for a while. One timer
// serves all runs.
import type { Clock, Timer } from '@methods/base/clock';
import type { VersionId } from '@methods/base/ids';
import { LRUCache } from 'lru-cache';

/** On a busy machine a grant and its report take 20 to 60 ms. */
const HOLD_MS = 100;
/** One late report weighs as much as this many in time. */
const LATE_WEIGHT = 4;
const SCORE_MAX = 64;
/** The score of a new version, and after a pause: the first late report begins another pause. */
const SCORE_FIRST = LATE_WEIGHT;
/** Doubles each time, until some reports are in time again. */
const PAUSE_MS = { first: 1_000, max: 60_000 };
const VERSIONS_MAX = 10_000;

/** The actor of a run that was granted early. */
export interface EarlyGrant {
  /** Commits the run now; returns false if that has happened already. */
  commitNow(): boolean;
}

/** How punctual the reports of one version are. */
interface Punctuality {
  score: number;
  pausedUntilMs: number;
  pauseMs: number;
}

export class EarlyGrants {
  /** In the order of their times, each of which is equally long after its grant. */
  private waiting: { readonly run: EarlyGrant; readonly versionId: VersionId; readonly untilMs: number }[] = [];
  private timer: Timer | null = null;
  private readonly versions = new LRUCache<VersionId, Punctuality>({ max: VERSIONS_MAX });

  constructor(private readonly clock: Clock) {}

  /** Reports whether an early grant is worth it: false for some time after a version's reports were late. */
  isTimely(versionId: VersionId): boolean {
    const known = this.versions.get(versionId);
    return known === undefined || this.clock.monotonicMs() >= known.pausedUntilMs;
  }

  add(run: EarlyGrant, versionId: VersionId): void {
    this.waiting.push({ run, versionId, untilMs: this.clock.monotonicMs() + HOLD_MS });
    this.timer ??= this.clock.after(HOLD_MS, () => this.commitLate());
  }

  private commitLate(): void {
    const nowMs = this.clock.monotonicMs();
    const due = this.waiting.findIndex(({ untilMs }) => untilMs > nowMs);
    const over = this.waiting.splice(0, due < 0 ? this.waiting.length : due);
    for (const { run, versionId } of over) this.count(versionId, run.commitNow(), nowMs);
    const [next] = this.waiting;
    this.timer = next === undefined ? null : this.clock.after(next.untilMs - nowMs, () => this.commitLate());
  }

  private count(versionId: VersionId, wasLate: boolean, nowMs: number): void {
    const known = this.versions.get(versionId);
    const version = known ?? { score: SCORE_FIRST, pausedUntilMs: 0, pauseMs: PAUSE_MS.first };
    if (known === undefined) this.versions.set(versionId, version);
    // The run was granted before the pause, so it begins no other one.
    if (nowMs < version.pausedUntilMs) return;
    version.score = Math.min(SCORE_MAX, version.score + (wasLate ? -LATE_WEIGHT : 1));
    if (version.score > 2 * LATE_WEIGHT) version.pauseMs = PAUSE_MS.first;
    if (version.score > 0) return;
    version.score = SCORE_FIRST;
    version.pausedUntilMs = nowMs + version.pauseMs;
    version.pauseMs = Math.min(PAUSE_MS.max, 2 * version.pauseMs);
  }
}
