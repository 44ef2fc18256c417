// Puts an ended delivery back in line for one more try.
import type { DeliveryId, OrgId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';

/** A delivery that is still pending is on its way anyway and stays as it is. Nothing happens to a foreign one. */
export async function resendDelivery(sql: Sql, orgId: OrgId, deliveryId: DeliveryId): Promise<void> {
  await sql`
    update notifier.deliveries
    set status = 'pending', resent_from = status, ended_at = null, due_at = clock_timestamp()
    where org_id = ${orgId} and delivery_id = ${deliveryId} and status <> 'pending'`;
}
