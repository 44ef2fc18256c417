// Deletes ended deliveries when their organization's retention is over, a short page at a time. Every replica does
// this; others skip what one has deleted.
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { RetentionDays } from '@methods/base/retention-days';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';

const ORGANIZATIONS = 200;
const PAGE = 200;
const BETWEEN_PAGES_MS = 250;
const AFTER_FAILURE_MS = 60_000;

interface RetentionSweepOptions {
  readonly sql: Sql;
  readonly retention: RetentionDays;
  readonly clock: Clock;
  readonly random: () => number;
  /** From the end of one walk to the next. */
  readonly sweepMs: number;
  readonly logger: Logger;
}

/** An organization with deliveries to delete. */
interface Due {
  readonly orgId: OrgId;
  readonly keptDays: number;
}

/** One walk over all organizations. */
interface Walk {
  /** Null: all have been processed. */
  afterOrgId: string | null;
  /**
   * The organizations up to that one. They take turns, a page each, so that one with millions does not delay others.
   */
  readonly due: Due[];
  deleted: number;
}

export class RetentionSweep implements Stoppable {
  private timer: Timer | null = null;
  private stepping: Promise<void> = Promise.resolve();
  private stopped = false;
  private walk: Walk | null = null;

  constructor(private readonly options: RetentionSweepOptions) {}

  /** The first walk begins at a random moment, so that replicas do not all walk at once. */
  start(): void {
    this.later(this.options.sweepMs * this.options.random());
  }

  /** Resolves when no statement is in flight any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.stepping;
  }

  private later(delayMs: number): void {
    if (this.stopped) return;
    this.timer = this.options.clock.after(delayMs, () => {
      this.stepping = this.go();
    });
  }

  private async go(): Promise<void> {
    this.walk ??= { afterOrgId: '', due: [], deleted: 0 };
    try {
      if (await this.step(this.walk)) return this.later(BETWEEN_PAGES_MS);
      const { deleted } = this.walk;
      if (deleted > 0) this.options.logger.info({ deliveries: deleted }, 'old deliveries deleted');
      this.walk = null;
      this.later(this.options.sweepMs);
    } catch (error) {
      this.options.logger.warn({ error }, 'old deliveries could not be deleted; trying again later');
      this.later(Math.min(AFTER_FAILURE_MS, this.options.sweepMs));
    }
  }

  /** Processes one page; returns whether another follows. */
  private async step(walk: Walk): Promise<boolean> {
    const { sql } = this.options;
    if (walk.afterOrgId !== null && walk.due.length < ORGANIZATIONS) {
      await this.nextOrganizations(walk, walk.afterOrgId);
      if (walk.due.length === 0) return walk.afterOrgId !== null;
    }
    const [first] = walk.due;
    if (first === undefined) return false;
    const deleted = await deleteEnded(sql, first.orgId, first.keptDays, PAGE);
    walk.deleted += deleted;
    walk.due.shift();
    if (deleted === PAGE) walk.due.push(first);
    return walk.due.length > 0 || walk.afterOrgId !== null;
  }

  private async nextOrganizations(walk: Walk, afterOrgId: string): Promise<void> {
    const { sql, retention } = this.options;
    const page = await organizationsWithEnded(sql, afterOrgId, ORGANIZATIONS);
    // No organization keeps less than a day.
    const aged = page.filter(({ oldestDays }) => oldestDays >= 1);
    const days = await retention.of(aged.map(({ orgId }) => orgId));
    for (const { orgId, oldestDays } of aged) {
      const keptDays = days.get(orgId);
      if (keptDays !== undefined && oldestDays >= keptDays) walk.due.push({ orgId, keptDays });
    }
    walk.afterOrgId = page.length === ORGANIZATIONS ? (page.at(-1)?.orgId ?? null) : null;
  }
}

/**
 * Deliveries past their retention: they hold questions and results, and are deleted when their runs are. They are found
 * by organization, so that rows that another one keeps for years are never read.
 */
interface OrganizationWithEnded {
  readonly orgId: OrgId;
  /** Days since the end of the delivery that ended first. */
  readonly oldestDays: number;
}

/**
 * Returns the next organizations with ended deliveries, in the order of their ids. Costs one index look-up for each.
 */
export async function organizationsWithEnded(
  sql: Sql,
  afterOrgId: string,
  limit: number,
): Promise<OrganizationWithEnded[]> {
  const rows = await sql<{ org_id: OrgId; oldest_days: number }[]>`
    with recursive firsts as (
      (select org_id, ended_at from notifier.deliveries
        where status <> 'pending' and org_id > ${afterOrgId} order by org_id, ended_at limit 1)
      union all
      select next.org_id, next.ended_at from firsts cross join lateral (
        select org_id, ended_at from notifier.deliveries
        where status <> 'pending' and org_id > firsts.org_id order by org_id, ended_at limit 1) next
    )
    select org_id, (extract(epoch from clock_timestamp() - ended_at) / 86400)::float8 as oldest_days
    from firsts limit ${limit}`;
  return rows.map((row) => ({ orgId: row.org_id, oldestDays: row.oldest_days }));
}

/**
 * Deletes the organization's deliveries that ended this long ago, oldest first, with their tries; returns their number.
 * Rows that another node deletes are skipped.
 */
export async function deleteEnded(sql: Sql, orgId: OrgId, keptDays: number, limit: number): Promise<number> {
  return (await deletion(sql, orgId, keptDays, limit)).count;
}

export function deletion(sql: Sql, orgId: OrgId, keptDays: number, limit: number) {
  // The statement's time, not the clock's: an index is searched only by values that stay the same. By row position, not
  // by key: the rows are locked, so they keep it, and no plan reads the table for them.
  return sql`
    delete from notifier.deliveries where org_id = ${orgId} and ctid = any(array(
      select ctid from notifier.deliveries
      where org_id = ${orgId} and status <> 'pending'
        and ended_at <= statement_timestamp() - make_interval(hours => 24 * ${keptDays}::int)
      order by ended_at limit ${limit}
      for update skip locked))`;
}
