// Runs work that callers' texts may make expensive outside of the event loop: on a few threads, behind a queue. An
// organization has one thread at a time, for a share of the time, and a share of the queue; large jobs never use all
// threads.
import { assert } from '@methods/base/assert';
import { type Clock, systemClock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { overShare, ServiceError } from '@methods/errors/service-error';
import { FairQueue, type Shares } from './fair-queue.ts';
import { JobFailed, type JobLimits, JobThread } from './job-thread.ts';

export interface ThreadPoolOptions {
  /** The file that calls `serveJobs`. */
  readonly body: URL;
  /** At least 2: one for large jobs, which also takes small ones, and those that take only small ones. */
  readonly threads?: number;
  readonly limits?: Partial<JobLimits>;
  readonly shares?: Partial<Shares>;
  /** The name of jobs in a refusal: "waiting checks". */
  readonly jobsName: string;
  readonly clock?: Clock;
}

interface JobOptions {
  readonly orgId: string;
  /** Size of what the job looks at. */
  readonly bytes: number;
  /** A job that waits is dropped when its caller goes; one that runs is finished. */
  readonly signal?: AbortSignal;
}

interface Waiting {
  readonly orgId: string;
  readonly isLarge: boolean;
  readonly bytes: number;
  readonly job: unknown;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** No longer waits: its timer and its listener are gone. */
  readonly settle: () => void;
}

const LIMITS: JobLimits = { cpuMsMax: 2_000, wallMsMax: 10_000, heapMibMax: 192 };
const SHARES: Shares = { small: 256, large: 8, all: 4_000, allBytes: 128 * 1024 * 1024 };
const LARGE_BYTES = 16 * 1024;
/** A large job takes a fraction of that. */
const RETRY_MS = 2_000;
const WAIT_MS_MAX = 8_000;

export class ThreadPool<Job, Reply> implements Stoppable {
  private readonly clock: Clock;
  private readonly limits: JobLimits;
  private readonly shares: Shares;
  private readonly queue: FairQueue<Waiting>;
  /** By place; the first is the one for large jobs. */
  private readonly threads: (JobThread | null)[];
  private readonly running = new Set<string>();
  private readonly times: ThreadShares;
  private stopped = false;

  constructor(private readonly options: ThreadPoolOptions) {
    const { threads = 2 } = options;
    assert(threads >= 2, 'a pool has a thread for small jobs');
    this.clock = options.clock ?? systemClock;
    this.limits = { ...LIMITS, ...options.limits };
    this.shares = { ...SHARES, ...options.shares };
    this.queue = new FairQueue(this.shares);
    this.times = new ThreadShares(this.clock);
    this.threads = Array.from({ length: threads }, () => null);
  }

  /**
   * @throws JobFailed when the job ended without a reply; it is never tried again. ServiceError rate_limited when the
   * organization has its share waiting or has used its time, unavailable when all have or none of the threads came free
   * in time.
   */
  run(job: Job, { orgId, bytes, signal }: JobOptions): Promise<Reply> {
    return new Promise<Reply>((resolve, reject) => {
      if (this.stopped) throw new ServiceError('unavailable');
      signal?.throwIfAborted();
      const isLarge = bytes > LARGE_BYTES;
      const leave = (error: unknown) => {
        if (!this.queue.remove(waiting)) return;
        waiting.settle();
        reject(error);
      };
      const onAbort = () => leave(signal?.reason);
      const timer = this.clock.after(WAIT_MS_MAX, () =>
        leave(this.mayRun(orgId) ? new ServiceError('unavailable') : this.overShare(isLarge)),
      );
      const settle = () => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        ...{ orgId, isLarge, bytes, job, reject, settle },
        // The body's own reply.
        resolve: (reply) => resolve(reply as Reply),
      };
      const admission = this.queue.add(waiting);
      if (admission !== 'waits') {
        settle();
        throw admission === 'full' ? new ServiceError('unavailable') : this.overShare(isLarge);
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      this.dispatch();
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (;;) {
      const waiting = this.queue.take(() => true, { large: true });
      if (waiting === null) break;
      waiting.settle();
      waiting.reject(new ServiceError('unavailable'));
    }
    await Promise.all(this.threads.map((thread) => thread?.terminate()));
  }

  private dispatch(): void {
    // Those that take only small jobs first, so that a small one leaves the place of large ones free.
    for (let place = this.threads.length - 1; place >= 0; place--) {
      const known = this.threads[place];
      if (this.stopped || (known && !known.isFree)) continue;
      const next = this.queue.take((orgId) => this.mayRun(orgId), { large: place === 0 });
      if (next === null) continue;
      next.settle();
      void this.runOn(known ?? this.threadAt(place), next);
    }
  }

  private mayRun(orgId: string): boolean {
    return !this.running.has(orgId) && this.times.waitMs(orgId) === 0;
  }

  private async runOn(thread: JobThread, { orgId, job, resolve, reject }: Waiting): Promise<void> {
    this.running.add(orgId);
    try {
      resolve(await thread.run(job));
    } catch (error) {
      reject(this.stopped || isTooSlow(error) ? new ServiceError('unavailable', undefined, { cause: error }) : error);
    } finally {
      this.running.delete(orgId);
      this.times.used(orgId, thread.lastCpuMs);
      const waitMs = this.times.waitMs(orgId);
      if (waitMs > 0) this.clock.after(Math.ceil(waitMs), () => this.dispatch());
      this.dispatch();
    }
  }

  private threadAt(place: number): JobThread {
    const known = this.threads[place];
    if (known) return known;
    const thread = new JobThread({
      body: this.options.body,
      limits: this.limits,
      clock: this.clock,
      onEnd: () => {
        if (this.threads[place] === thread) this.threads[place] = null;
      },
    });
    this.threads[place] = thread;
    return thread;
  }

  private overShare(isLarge: boolean): ServiceError {
    const { small, large } = this.shares;
    const what = `${this.options.jobsName} of ${isLarge ? 'more than' : 'at most'} ${LARGE_BYTES / 1024} KiB`;
    return overShare(what, { share: 'organization', max: isLarge ? large : small }, RETRY_MS);
  }
}

function isTooSlow(error: unknown): boolean {
  return error instanceof JobFailed && error.fault === 'too_slow';
}

const AT_ONCE_MS = 500;
const SHARE = 0.25;
/** Beyond this number, organizations without debt are removed. */
const KNOWN_MAX = 10_000;

interface Debt {
  ms: number;
  atMs: number;
}

/**
 * Limits the processor time of a pool's threads that an organization may use for long: its jobs run at once until it
 * has used half a second, and from then on it has a quarter of a thread. A thread that one organization keeps busy
 * takes the processor from event loops that all callers wait for, although it has a lower priority.
 */
export class ThreadShares {
  private readonly debts = new Map<string, Debt>();

  constructor(private readonly clock: Clock) {}

  used(orgId: string, cpuMs: number): void {
    const debt = this.debtOf(orgId);
    debt.ms += cpuMs;
    if (this.debts.size >= KNOWN_MAX) this.forgetPaid();
    this.debts.set(orgId, debt);
  }

  /** Until it may have a thread again; 0: now. */
  waitMs(orgId: string): number {
    if (!this.debts.has(orgId)) return 0;
    return Math.max(0, (this.debtOf(orgId).ms - AT_ONCE_MS) / SHARE);
  }

  private debtOf(orgId: string): Debt {
    const nowMs = this.clock.monotonicMs();
    const { ms, atMs } = this.debts.get(orgId) ?? { ms: 0, atMs: nowMs };
    return { ms: Math.max(0, ms - (nowMs - atMs) * SHARE), atMs: nowMs };
  }

  private forgetPaid(): void {
    for (const orgId of this.debts.keys()) if (this.debtOf(orgId).ms === 0) this.debts.delete(orgId);
  }
}
