// Bounds an organization's unfinished runs. The count is read now and then and updated by this node's own starts, so a
// start costs no read; it may differ by the runs that other nodes start and finish within a few seconds.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { RunStore } from '../store/run-store.ts';

const UNFINISHED_MAX = 1_000_000;
/** Above this part of the bound, the count is read often. */
const NEAR = 0.8;
const READ_FAR_MS = 60_000;
const READ_NEAR_MS = 2_000;
const ORGANIZATIONS_MAX = 10_000;

interface Known {
  /** The count as read, plus the runs that this node started since. */
  runs: number;
  readAtMs: number;
}

export class UnfinishedRuns {
  private readonly known = new Map<OrgId, Known>();
  private readonly asked = new Set<OrgId>();
  private reading = false;

  constructor(
    private readonly options: {
      readonly store: Pick<RunStore, 'unfinished'>;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly max?: number;
    },
  ) {}

  /** Returns false if the organization has too many. An unknown count passes. */
  hasRoom(orgId: OrgId): boolean {
    const max = this.options.max ?? UNFINISHED_MAX;
    const known = this.known.get(orgId);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.options.clock.monotonicMs() - known.readAtMs;
    if (ageMs > (known !== undefined && known.runs > max * NEAR ? READ_NEAR_MS : READ_FAR_MS)) this.ask(orgId);
    return known === undefined || known.runs < max;
  }

  started(orgId: OrgId): void {
    const known = this.known.get(orgId);
    if (known !== undefined) known.runs++;
  }

  private ask(orgId: OrgId): void {
    this.asked.add(orgId);
    if (this.reading) return;
    this.reading = true;
    // Reads all counts requested in one turn together.
    setImmediate(() => void this.read());
  }

  private async read(): Promise<void> {
    while (this.asked.size > 0) {
      const orgIds = [...this.asked];
      this.asked.clear();
      const readAtMs = this.options.clock.monotonicMs();
      try {
        const counts = await this.options.store.unfinished(orgIds);
        for (const orgId of orgIds) {
          this.known.delete(orgId);
          this.known.set(orgId, { runs: counts.get(orgId) ?? 0, readAtMs });
        }
      } catch (error) {
        this.options.logger.warn({ error }, 'unfinished runs could not be counted');
        // Not retried at once: starts continue with the last known count.
        for (const orgId of orgIds) this.known.set(orgId, { runs: this.known.get(orgId)?.runs ?? 0, readAtMs });
      }
      for (const orgId of this.known.keys()) {
        if (this.known.size <= ORGANIZATIONS_MAX) break;
        this.known.delete(orgId);
      }
    }
    this.reading = false;
  }
}

export function tooManyUnfinished(): ServiceError {
  const message = `The organization has more than ${UNFINISHED_MAX.toLocaleString('en')} unfinished runs.`;
  return new ServiceError('rate_limited', message, {
    retryAfterMs: 10_000,
    findings: [{ path: '', code: 'unfinished_runs', message: 'Finish or cancel runs, or start workers for them.' }],
  });
}
