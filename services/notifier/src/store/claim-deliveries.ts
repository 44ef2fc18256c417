// Takes due deliveries for this node alone. Any number of nodes may ask at once; none waits for another.
import type { Sql } from '@methods/postgres/pool';
import type { ClaimedDelivery } from '../delivery/delivery.ts';

export interface ClaimRequest {
  /** New and random at each call. */
  readonly claim: string;
  /** After this the deliveries fall due again, for whoever is alive then. */
  readonly claimMs: number;
  readonly limit: number;
  readonly perHost: number;
  /** Sends this node has under way, by host. */
  readonly busyHosts: ReadonlyMap<string, number>;
}

export interface ClaimReply {
  readonly claimed: readonly ClaimedDelivery[];
  /** Whether due deliveries that this node has room for were seen and not got: another node took them just now. */
  readonly contended: boolean;
  /** Whether more may be due than the search saw: its room went to few hosts, which it passes over the next time. */
  readonly more: boolean;
  /** Until the next delivery falls due, within a minute; null when none does. */
  readonly nextDueMs: number | null;
}

/** How many due deliveries are looked at for each that is wanted: hosts may be at their bound. */
const SEEN_FOR_EACH = 4;

/**
 * A run's first tries go in the order of seq: an untried delivery waits while an earlier one of its run is untried.
 * Later tries wait for nobody. Hosts at their bound are skipped, so one slow receiver does not hold up the others.
 */
export async function claimDeliveries(sql: Sql, request: ClaimRequest): Promise<ClaimReply> {
  const rows = await claimStatement(sql, request);
  const claimed = rows.flatMap((row) => (row.delivery_id === null ? [] : [toClaimed(row, request.claim)]));
  return {
    claimed,
    contended: claimed.length < (rows[0]?.chosen_count ?? 0),
    more: claimed.length > 0 && rows[0]?.seen_count === seenMax(request),
    nextDueMs: rows[0]?.next_due_ms ?? null,
  };
}

function seenMax({ limit }: ClaimRequest): number {
  return limit * SEEN_FOR_EACH;
}

/** What falls due later is not read: the statement's time bounds the search of the index, as the clock's could not. */
export function claimStatement(sql: Sql, request: ClaimRequest) {
  const hosts = [...request.busyHosts.keys()];
  const room = [...request.busyHosts.values()].map((busy) => request.perHost - busy);
  const full = hosts.filter((_host, index) => (room[index] ?? 0) <= 0);
  return sql<ClaimRow[]>`
    with seen as (
      select d.org_id, d.delivery_id, d.host, d.due_at
      from notifier.deliveries d
      where d.status = 'pending' and d.due_at <= statement_timestamp() and d.host <> all(${full}::text[])
        and (d.tries > 0 or not exists (
          select from notifier.deliveries e
          where e.org_id = d.org_id and e.run_id = d.run_id and e.seq < d.seq and e.status = 'pending' and e.tries = 0))
      order by d.due_at limit ${seenMax(request)}
    ), ranked as (
      select s.*, row_number() over (partition by s.host order by s.due_at) as place from seen s
    ), chosen as (
      select r.org_id, r.delivery_id
      from ranked r left join unnest(${hosts}::text[], ${room}::int[]) as h(host, room) on h.host = r.host
      where r.place <= coalesce(h.room, ${request.perHost})
      order by r.due_at limit ${request.limit}
    ), locked as (
      select d.org_id, d.delivery_id
      from notifier.deliveries d join chosen c on c.org_id = d.org_id and c.delivery_id = d.delivery_id
      where d.status = 'pending' and d.due_at <= statement_timestamp()
      for update of d skip locked
    ), claimed as (
      update notifier.deliveries d
      set claim = ${request.claim}, due_at = statement_timestamp() + make_interval(secs => ${request.claimMs / 1000})
      from locked l where d.org_id = l.org_id and d.delivery_id = l.delivery_id
      returning d.org_id, d.delivery_id, d.run_id, d.seq, d.url, d.host, d.event, d.key_id, d.body, d.tries, d.resent_from
    )
    select c.*, (select count(*) from chosen)::int as chosen_count, (select count(*) from seen)::int as seen_count, (
      select extract(epoch from min(due_at) - statement_timestamp()) * 1000 from notifier.deliveries
      where status = 'pending'
        and due_at > statement_timestamp() and due_at < statement_timestamp() + interval '1 minute'
    )::float8 as next_due_ms
    from (select 1) always left join claimed c on true
    order by c.run_id, c.seq`;
}

interface ClaimRow {
  readonly org_id: string;
  readonly delivery_id: string | null;
  readonly run_id: string;
  readonly seq: number | string;
  readonly url: string;
  readonly host: string;
  readonly event: string;
  readonly key_id: string;
  readonly body: Buffer;
  readonly tries: number;
  readonly resent_from: ClaimedDelivery['resentFrom'];
  readonly chosen_count: number;
  readonly seen_count: number;
  readonly next_due_ms: number | null;
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
