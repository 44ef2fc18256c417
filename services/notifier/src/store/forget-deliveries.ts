// Ended deliveries hold questions and results; they go when their time is over.
import type { Sql } from '@methods/postgres/pool';

/** Deletes at most `limit` deliveries that ended more than `days` ago, with their tries; returns how many. */
export async function forgetDeliveries(sql: Sql, days: number, limit: number): Promise<number> {
  const gone = await sql`
    delete from notifier.deliveries d using (
      select org_id, delivery_id from notifier.deliveries
      where status <> 'pending' and ended_at < clock_timestamp() - make_interval(days => ${days})
      order by ended_at limit ${limit} for update skip locked
    ) old
    where d.org_id = old.org_id and d.delivery_id = old.delivery_id`;
  return gone.count;
}
