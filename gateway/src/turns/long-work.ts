// Runs work on callers' data that takes more than a moment of the event loop in slices. Organizations take turns, and
// after each slice the loop is left to others for several times as long.
import type { Clock } from '@methods/base/clock';
import { overShare } from '@methods/errors/service-error';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';

const WAITING = { small: 64, large: 0, all: 512, allBytes: 256 << 20 };
/** Divisible work stops after this time; a slice ends with the step in progress. */
const SLICE_MS = 8;
/** After a slice the event loop is left to others for this many times as long. */
const REST = 4;
/** The longest rest: a process that was stopped for a while does not rest for that time. */
const REST_MS_MAX = 200;

interface Job extends QueuedJob {
  /** Time spent on the event loop before its first slice. */
  spentMs: number;
  /** It rests even if no other organization is waiting. */
  readonly restsAlone: boolean;
  /** Returns true if it has ended. */
  readonly slice: (isOver: () => boolean) => boolean;
}

/** One for all surfaces. */
export class LongWork {
  private readonly queue = new FairQueue<Job>(WAITING);
  private resting = false;

  constructor(
    private readonly clock: Clock,
    private readonly recent: Pick<RecentOrganizations, 'sawOthersThan'> = { sawOthersThan: () => true },
  ) {}

  /**
   * Resolves with the result of `work`, which may pause at each `yield`. `bytes`: the size of what it holds while it
   * waits. `spentMs`: the time of earlier work for it, such as reading a body, which its first rest includes.
   * `restsAlone`: false for work equivalent to many small requests, which rests only for other organizations. @throws
   * ServiceError when the organization, or all of them, have too much of it waiting
   */
  run<T>(orgId: string, bytes: number, work: Iterator<unknown, T>, spentMs = 0, restsAlone = true): Promise<T> {
    return new Promise((resolve, reject) => {
      const slice = (isOver: () => boolean): boolean => {
        try {
          for (;;) {
            const step = work.next();
            if (step.done) resolve(step.value);
            if (step.done || isOver()) return step.done === true;
          }
        } catch (error) {
          reject(error);
          return true;
        }
      };
      const admission = this.queue.add({ orgId, bytes, isLarge: false, slice, spentMs, restsAlone });
      if (admission === 'waits') return this.next();
      reject(
        overShare('large bodies and replies', {
          share: admission === 'share' ? 'organization' : 'all',
          max: admission === 'share' ? WAITING.small : WAITING.all,
        }),
      );
    });
  }

  private next(): void {
    if (this.resting) return;
    const job = this.queue.take(() => true, { large: false });
    if (job === null) return;
    const beganMs = this.clock.monotonicMs();
    const ended = job.slice(() => this.clock.monotonicMs() - beganMs >= SLICE_MS);
    const tookMs = job.spentMs + this.clock.monotonicMs() - beganMs;
    job.spentMs = 0;
    // Its place was released just now, so there is room for it.
    if (!ended) this.queue.add(job);
    this.resting = true;
    const rests = job.restsAlone || this.recent.sawOthersThan(job.orgId);
    const restMs = rests ? Math.min(REST * tookMs, REST_MS_MAX) : 0;
    this.clock.after(restMs, () => {
      this.resting = false;
      this.next();
    });
  }
}

/** Work that cannot be left before its end. */
// biome-ignore lint/correctness/useYield: it never is
export function* undivided<T>(work: () => T): Generator<never, T> {
  return work();
}

// Tracks whether other organizations send requests too: without them, work need not be delayed for the sake of others.
const RECENT_MS = 10_000;

interface Seen {
  readonly orgId: string;
  atMs: number;
}

export class RecentOrganizations {
  /** The organization that asked last, and the last one before it that differs. */
  private last: Seen = { orgId: '', atMs: Number.NEGATIVE_INFINITY };
  private other: Seen = { orgId: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(private readonly clock: Clock) {}

  saw(orgId: string): void {
    const atMs = this.clock.monotonicMs();
    if (orgId === this.last.orgId) {
      this.last.atMs = atMs;
      return;
    }
    this.other = this.last;
    this.last = { orgId, atMs };
  }

  /** Considers the last ten seconds. */
  sawOthersThan(orgId: string): boolean {
    const { atMs } = orgId === this.last.orgId ? this.other : this.last;
    return this.clock.monotonicMs() - atMs < RECENT_MS;
  }
}
