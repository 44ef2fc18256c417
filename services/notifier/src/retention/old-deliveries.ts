// Deliveries whose time is over: they hold questions and results, and go when the runs they tell of do.
import type { Sql } from '@methods/postgres/pool';

export interface EndedDelivery {
  readonly orgId: string;
  readonly deliveryId: string;
  /** As Postgres writes it, which is finer than milliseconds. */
  readonly endedAt: string;
  /** Since then. */
  readonly ageDays: number;
}

export interface AgedDelivery {
  readonly orgId: string;
  readonly deliveryId: string;
  /** Days since its end after which it goes. */
  readonly keptDays: number;
}

interface EndedRow {
  readonly org_id: string;
  readonly delivery_id: string;
  readonly ended_at: string;
  readonly age_days: number;
}

/** The next deliveries after one of them that ended more than a day ago, in the order of their end. */
export async function endedDeliveries(sql: Sql, after: EndedDelivery | null, limit: number): Promise<EndedDelivery[]> {
  return (await endedPage(sql, after, limit)).map((row) => ({
    orgId: row.org_id,
    deliveryId: row.delivery_id,
    endedAt: row.ended_at,
    ageDays: row.age_days,
  }));
}

export function endedPage(sql: Sql, after: EndedDelivery | null, limit: number) {
  // As text first: the driver would make a Date of a timestamp, and lose what is finer than milliseconds.
  const following =
    after === null
      ? sql``
      : sql`and (deliveries.ended_at, org_id, delivery_id)
          > (${after.endedAt}::text::timestamptz, ${after.orgId}, ${after.deliveryId})`;
  return sql<EndedRow[]>`
    select org_id, delivery_id, ended_at::text,
      (extract(epoch from clock_timestamp() - deliveries.ended_at) / 86400)::float8 as age_days
    from notifier.deliveries
    where status <> 'pending' and deliveries.ended_at < clock_timestamp() - interval '1 day' ${following}
    order by deliveries.ended_at, org_id, delivery_id limit ${limit}`;
}

/** Deletes those that ended long enough ago, with their tries; returns how many. What another node deletes is passed over. */
export async function deleteDeliveries(sql: Sql, deliveries: readonly AgedDelivery[]): Promise<number> {
  const gone = await sql`
    delete from notifier.deliveries d using (
      select d.org_id, d.delivery_id
      from notifier.deliveries d join unnest(
        ${deliveries.map((delivery) => delivery.orgId)}::text[],
        ${deliveries.map((delivery) => delivery.deliveryId)}::text[],
        ${deliveries.map((delivery) => delivery.keptDays)}::int[]
      ) as t(org_id, delivery_id, kept_days) on d.org_id = t.org_id and d.delivery_id = t.delivery_id
      where d.status <> 'pending' and d.ended_at <= clock_timestamp() - make_interval(hours => 24 * t.kept_days)
      for update of d skip locked
    ) old
    where d.org_id = old.org_id and d.delivery_id = old.delivery_id`;
  return gone.count;
}
