// Carries out changes of many runs: takes the next runs of each, changes a few at a time, and reports what came of them.
// A gateway that dies loses nothing: a minute later another one takes its changes over, and repeats of what was not
// reported are harmless. Each change rests as long as it works, so that it leaves room for requests.
import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '@methods/base/clock';
import type { BulkId, OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { asServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type Bulk, type BulkItem, BulkItemState } from '@methods/proto/scheduler/v1/bulk_service_pb';
import type { ReadCalls } from '../../clients/read-calls.ts';

/** What came of a run. */
export interface ItemOutcome {
  readonly state: 'done' | 'failed';
  /** An error code; empty: none. */
  readonly reason: string;
  readonly newRunId: BulkItem['newRunId'];
}

export interface BulkDriverOptions {
  readonly calls: ReadCalls['bulk'];
  /** @throws ServiceError unavailable or rate_limited: the run is left for later. */
  readonly change: (orgId: OrgId, bulk: Bulk, item: BulkItem) => Promise<ItemOutcome>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DRIVEN_MAX = 16;
const ITEMS_AT_ONCE = 8;
const ITEMS_A_TURN = 64;
const REST_MS_MAX = 1_000;
const RETRY_MS = 2_000;
/** The gateway that had it may have died. */
const IDLE_EVERY_MS = 15_000;

export class BulkDriver implements Stoppable {
  private readonly driver = randomUUID();
  private readonly driven = new Set<BulkId>();
  private readonly waking = new Set<() => void>();
  private timer: Timer | null = null;
  private stopping = false;

  constructor(private readonly options: BulkDriverOptions) {}

  start(): void {
    this.timer = this.options.clock.after(IDLE_EVERY_MS, () => {
      void this.look();
      this.start();
    });
  }

  stop(): void {
    this.stopping = true;
    this.timer?.cancel();
    for (const wake of [...this.waking]) wake();
  }

  /** Begins with a change that was started here. One beyond the bound is found by a later look. */
  begin(orgId: OrgId, bulkId: BulkId): void {
    if (this.stopping || this.driven.has(bulkId) || this.driven.size >= DRIVEN_MAX) return;
    this.driven.add(bulkId);
    void this.drive(orgId, bulkId).finally(() => this.driven.delete(bulkId));
  }

  /** Takes over what no gateway has. */
  async look(): Promise<void> {
    const limit = DRIVEN_MAX - this.driven.size;
    if (limit <= 0 || this.stopping) return;
    try {
      const { bulks } = await this.options.calls.idle({ limit });
      for (const { orgId, bulkId } of bulks) this.begin(orgId, bulkId);
    } catch (error) {
      this.options.logger.debug({ code: asServiceError(error).code }, 'no idle changes of many runs were found');
    }
  }

  private async drive(orgId: OrgId, bulkId: BulkId): Promise<void> {
    const { calls, clock, logger } = this.options;
    while (!this.stopping) {
      const beganMs = clock.monotonicMs();
      try {
        const { bulk, items } = await calls.take({ orgId, bulkId, driver: this.driver, limit: ITEMS_A_TURN });
        if (bulk === undefined || items.length === 0) return;
        const reports = await this.turn(orgId, bulk, items);
        if (reports.length > 0) await calls.report({ orgId, bulkId, items: reports });
        const isHeldUp = reports.length < items.length;
        await this.rest(isHeldUp ? RETRY_MS : Math.min(clock.monotonicMs() - beganMs, REST_MS_MAX));
      } catch (error) {
        const { code } = asServiceError(error);
        if (code === 'not_found') return;
        logger.warn({ bulk: bulkId, code }, 'a change of many runs waits');
        await this.rest(RETRY_MS);
      }
    }
  }

  /** Returns what is to be reported: without the runs that are left for later. */
  private async turn(orgId: OrgId, bulk: Bulk, items: readonly BulkItem[]) {
    const left = [...items];
    const reports: { position: number; state: BulkItemState; reason: string; newRunId: BulkItem['newRunId'] }[] = [];
    const work = async () => {
      for (let item = left.shift(); item !== undefined && !this.stopping; item = left.shift()) {
        const outcome = await this.changed(orgId, bulk, item);
        if (outcome === null) {
          left.length = 0;
          return;
        }
        const state = outcome.state === 'done' ? BulkItemState.DONE : BulkItemState.FAILED;
        reports.push({ position: item.position, state, reason: outcome.reason, newRunId: outcome.newRunId });
      }
    };
    await Promise.all(Array.from({ length: ITEMS_AT_ONCE }, work));
    return reports;
  }

  /** Null: for later. */
  private async changed(orgId: OrgId, bulk: Bulk, item: BulkItem): Promise<ItemOutcome | null> {
    try {
      return await this.options.change(orgId, bulk, item);
    } catch (error) {
      const { code } = asServiceError(error);
      if (code === 'unavailable' || code === 'rate_limited') return null;
      return { state: 'failed', reason: code, newRunId: '' };
    }
  }

  private rest(ms: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        timer.cancel();
        this.waking.delete(wake);
        resolve();
      };
      const timer = this.options.clock.after(ms, wake);
      this.waking.add(wake);
    });
  }
}
