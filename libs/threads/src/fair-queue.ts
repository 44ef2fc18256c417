// The order in which jobs of many organizations get their turn: one organization after the other, for any number of
// waiting jobs, and large jobs in a separate lane, so that no small one waits behind them.

export interface QueuedJob {
  readonly orgId: string;
  readonly isLarge: boolean;
  /** Held while it waits. */
  readonly bytes: number;
}

export interface Shares {
  /** Jobs of one organization that wait at once. More are refused. */
  readonly small: number;
  readonly large: number;
  /** Jobs of all organizations that wait at once, and their bytes. */
  readonly all: number;
  readonly allBytes: number;
}

/** `share`: the organization has as many waiting as it may; `full`: all organizations together have. */
export type Admission = 'waits' | 'share' | 'full';

export class FairQueue<Job extends QueuedJob> {
  private readonly small = new Lane<Job>();
  private readonly large = new Lane<Job>();

  constructor(private readonly shares: Shares) {}

  get length(): number {
    return this.small.length + this.large.length;
  }

  private get bytes(): number {
    return this.small.bytes + this.large.bytes;
  }

  hasWaiting(orgId: string): boolean {
    return this.small.waitingOf(orgId) > 0 || this.large.waitingOf(orgId) > 0;
  }

  add(job: Job): Admission {
    const lane = this.laneOf(job);
    if (lane.waitingOf(job.orgId) >= (job.isLarge ? this.shares.large : this.shares.small)) return 'share';
    if (this.length >= this.shares.all || this.bytes + job.bytes > this.shares.allBytes) return 'full';
    lane.add(job);
    return 'waits';
  }

  /** The next job of an organization that `mayRun`; with `large`, large ones come first, else they do not come at all. */
  take(mayRun: (orgId: string) => boolean, { large }: { readonly large: boolean }): Job | null {
    return (large ? this.large.take(mayRun) : null) ?? this.small.take(mayRun);
  }

  /** False: it does not wait any more. */
  remove(job: Job): boolean {
    return this.laneOf(job).remove(job);
  }

  private laneOf(job: Job): Lane<Job> {
    return job.isLarge ? this.large : this.small;
  }
}

class Lane<Job extends QueuedJob> {
  /** The first organization has the next turn. No list is empty. */
  private readonly byOrganization = new Map<string, Job[]>();
  length = 0;
  bytes = 0;

  waitingOf(orgId: string): number {
    return this.byOrganization.get(orgId)?.length ?? 0;
  }

  add(job: Job): void {
    this.length++;
    this.bytes += job.bytes;
    const waiting = this.byOrganization.get(job.orgId);
    if (waiting === undefined) this.byOrganization.set(job.orgId, [job]);
    else waiting.push(job);
  }

  /** Skips the organizations whose jobs run now, at most as many as there are threads. */
  take(mayRun: (orgId: string) => boolean): Job | null {
    for (const [orgId, waiting] of this.byOrganization) {
      if (!mayRun(orgId)) continue;
      const [job] = waiting;
      // To the end of the turn.
      this.byOrganization.delete(orgId);
      this.byOrganization.set(orgId, waiting);
      return job !== undefined && this.remove(job) ? job : null;
    }
    return null;
  }

  remove(job: Job): boolean {
    const waiting = this.byOrganization.get(job.orgId) ?? [];
    const at = waiting.indexOf(job);
    if (at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.byOrganization.delete(job.orgId);
    this.length--;
    this.bytes -= job.bytes;
    return true;
  }
}
