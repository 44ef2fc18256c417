// Puts ended deliveries back in line for one more try.
import type { DeliveryId, OrgId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';

/**
 * Those that are still pending are on their way anyway and stay as they are. Nothing happens to foreign ones. Returns
 * those that are on their way now.
 */
export async function resendDeliveries(
  sql: Sql,
  orgId: OrgId,
  deliveryIds: readonly DeliveryId[],
): Promise<readonly DeliveryId[]> {
  if (deliveryIds.length === 0) return [];
  const rows = await sql<{ delivery_id: DeliveryId }[]>`
    with chosen as (
      -- In one order: two calls with the same ids wait for each other at the first of them.
      select org_id, delivery_id from notifier.deliveries
      where org_id = ${orgId} and delivery_id = any(${[...deliveryIds]}::text[]) and status <> 'pending'
      order by delivery_id for update
    )
    update notifier.deliveries d
    set status = 'pending', resent_from = status, ended_at = null, due_at = clock_timestamp()
    from chosen c where d.org_id = c.org_id and d.delivery_id = c.delivery_id
    returning d.delivery_id`;
  return rows.map((row) => row.delivery_id);
}
