// Claims due deliveries for this node. Any number of nodes may ask at once; none waits for another.
import type { Sql } from '@methods/postgres/pool';
import type { ClaimedDelivery } from '../delivery/delivery.ts';
import { type ClaimRow, claimStatement } from './claim-statement.ts';

/** The sends a node may still make. */
export interface Room {
  /** Organizations with sends under way on this node. */
  readonly busy: readonly BusyOrganization[];
  /** Of any other organization. */
  readonly idle: { readonly sends: number; readonly bytes: number; readonly hostSends: number };
}

export interface BusyOrganization {
  readonly orgId: string;
  readonly underWay: number;
  /** Further sends, and bytes of bodies; 0 or less: its share is full. */
  readonly sends: number;
  readonly bytes: number;
  /** Further sends to hosts that have some under way; 0 or less: the host is full. */
  readonly hosts: ReadonlyMap<string, number>;
}

export interface ClaimRequest extends Room {
  /** New and random at each call. */
  readonly claim: string;
  /** After this the deliveries are due again, for any live node. */
  readonly claimMs: number;
  readonly limit: number;
  /** Of the bodies together; a claim of one delivery may be larger. */
  readonly bytes: number;
}

export interface ClaimReply {
  readonly claimed: readonly ClaimedDelivery[];
  /** Whether due deliveries that this node has room for were seen and not got: another node took them just now. */
  readonly contended: boolean;
  /** Whether more may be due, and this claim has come nearer to it. */
  readonly more: boolean;
  /** Until the next delivery may fall due, within a minute; null when none does. */
  readonly nextDueMs: number | null;
}

/**
 * Organizations take turns, and so do the hosts of one: the one that has sent least goes first. A run's first tries go
 * in the order of seq: an untried delivery waits while an earlier one of its run is untried. Later tries wait for
 * nothing.
 */
export async function claimDeliveries(sql: Sql, request: ClaimRequest): Promise<ClaimReply> {
  const rows = await claimStatement(sql, request);
  const claimed = rows.flatMap((row) => (row.delivery_id === null ? [] : [toClaimed(row, request.claim)]));
  const [first] = rows;
  if (first === undefined) throw new Error('a claim returned no row');
  return {
    claimed,
    contended: claimed.length < first.chosen_count,
    more: first.due_left === true && claimed.length + first.settled_count > 0,
    nextDueMs: first.next_due_ms,
  };
}

function toClaimed(row: ClaimRow, claim: string): ClaimedDelivery {
  return {
    orgId: row.org_id,
    deliveryId: row.delivery_id ?? '',
    runId: row.run_id,
    seq: Number(row.seq),
    url: row.url,
    host: row.host,
    event: row.event,
    keyId: row.key_id,
    body: row.body,
    claim,
    tries: row.tries,
    resentFrom: row.resent_from,
  };
}
