// Lets ended deliveries go when their organization's retention is over, a short page at a time. Every replica does so;
// what one deletes the others do not find.
import type { Clock, Timer } from '@methods/base/clock';
import type { RetentionDays } from '@methods/base/retention-days';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';
import { type AgedDelivery, deleteDeliveries, type EndedDelivery, endedDeliveries } from './old-deliveries.ts';

const PAGE = 200;
const BETWEEN_PAGES_MS = 250;
const AFTER_FAILURE_MS = 60_000;

export interface RetentionSweepOptions {
  readonly sql: Sql;
  readonly retention: RetentionDays;
  readonly clock: Clock;
  readonly random: () => number;
  /** From the end of one walk to the next. */
  readonly sweepMs: number;
  readonly logger: Logger;
}

export class RetentionSweep implements Stoppable {
  private timer: Timer | null = null;
  private stopped = false;
  private after: EndedDelivery | null = null;
  private deleted = 0;

  constructor(private readonly options: RetentionSweepOptions) {}

  /** The first walk begins at a random moment, so that replicas do not all walk at once. */
  start(): void {
    this.later(this.options.sweepMs * this.options.random());
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private later(delayMs: number): void {
    if (!this.stopped) this.timer = this.options.clock.after(delayMs, () => void this.go());
  }

  private async go(): Promise<void> {
    try {
      if (await this.step()) return this.later(BETWEEN_PAGES_MS);
      if (this.deleted > 0) this.options.logger.info({ deliveries: this.deleted }, 'old deliveries deleted');
      this.deleted = 0;
      this.after = null;
      this.later(this.options.sweepMs);
    } catch (error) {
      this.options.logger.warn({ error }, 'old deliveries could not be deleted; trying again later');
      this.later(Math.min(AFTER_FAILURE_MS, this.options.sweepMs));
    }
  }

  /** One page; whether another follows. */
  private async step(): Promise<boolean> {
    const { sql, retention } = this.options;
    const page = await endedDeliveries(sql, this.after, PAGE);
    const days = await retention.of(page.map((delivery) => delivery.orgId));
    const old = page.flatMap(({ orgId, deliveryId, ageDays }): AgedDelivery[] => {
      const keptDays = days.get(orgId);
      return keptDays === undefined || ageDays < keptDays ? [] : [{ orgId, deliveryId, keptDays }];
    });
    if (old.length > 0) this.deleted += await deleteDeliveries(sql, old);
    this.after = page.at(-1) ?? null;
    return page.length === PAGE;
  }
}
