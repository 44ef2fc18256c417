// Tracks whether other organizations send requests too: without them, work need not be delayed for the sake of others.
import type { Clock } from '@methods/base/clock';

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
