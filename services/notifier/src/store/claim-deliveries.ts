// Claims due deliveries for this node, and puts ended ones back in line. Any number of nodes may ask at once, and none
// waits for another.
import type { DeliveryId, OrgId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import { type ClaimRequest, type ClaimRow, claimStatement } from './claim-statement.ts';

export interface ClaimReply {
  readonly claimed: readonly ClaimedDelivery[];
  /** Whether due deliveries for which this node has room were seen and another node took them. */
  readonly contended: boolean;
  /** Whether more may be due that this claim has come nearer to. */
  readonly more: boolean;
  /** The time until the next delivery may be due, within a minute; null when none is. */
  readonly nextDueMs: number | null;
}

/**
 * Organizations take turns, and so do the hosts of one: the one that has sent least goes first. First tries of a run go
 * to each target in the order of seq: an untried delivery waits while an earlier one of its run is untried there. Later
 * tries wait for nothing.
 */
export async function claimDeliveries(sql: Sql, request: ClaimRequest): Promise<ClaimReply> {
  const rows = await claimStatement(sql, request);
  const claimed = rows.flatMap((row) =>
    row.delivery_id === null ? [] : [toClaimed(row, row.delivery_id, request.claim)],
  );
  const [first] = rows;
  if (first === undefined) throw new Error('a claim returned no row');
  return {
    claimed,
    contended: claimed.length < first.chosen_count,
    more: first.due_left === true && claimed.length + first.settled_count > 0,
    nextDueMs: first.next_due_ms,
  };
}

function toClaimed(row: ClaimRow, deliveryId: DeliveryId, claim: string): ClaimedDelivery {
  return {
    orgId: row.org_id,
    deliveryId,
    runId: row.run_id,
    seq: Number(row.seq),
    url: row.url,
    endpointId: row.endpoint_id,
    kind: row.kind,
    host: row.host,
    event: row.event,
    keyId: row.key_id,
    body: row.body,
    claim,
    tries: row.tries,
    resentFrom: row.resent_from,
  };
}

// Puts ended deliveries back in line for one more try.

/**
 * Pending deliveries are being sent anyway and are not changed; neither are those of other organizations. Returns those
 * that are being sent now.
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
    set status = 'pending', resent_from = status, first_ended_at = coalesce(first_ended_at, ended_at), ended_at = null,
      due_at = clock_timestamp()
    from chosen c where d.org_id = c.org_id and d.delivery_id = c.delivery_id
    returning d.delivery_id`;
  return rows.map((row) => row.delivery_id);
}
