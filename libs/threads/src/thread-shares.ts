// How much processor time of a pool's threads an organization may use for long: its jobs run at once until it has used
// half a second, and from then on it has a quarter of a thread. A thread that one organization keeps busy takes the
// processor from event loops that all callers wait for, though it has a lower priority.
import type { Clock } from '@methods/base/clock';

const AT_ONCE_MS = 500;
const SHARE = 0.25;
/** Beyond this number, organizations without debt are removed. */
const KNOWN_MAX = 10_000;

interface Debt {
  ms: number;
  atMs: number;
}

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
