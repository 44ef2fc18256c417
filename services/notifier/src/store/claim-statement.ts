// The statement behind a claim. It goes down from what is due: the organizations whose turn it is, of each the hosts
// whose turn it is, and of each host its first deliveries. Each step reads only what may be sent and what is full, so
// it never reads the backlog of others or deliveries for later.
import type { DeliveryId, EndpointId, KeyId, OrgId, RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import type { DeliveryKind, EndStatus } from '../delivery/delivery.ts';
import { MAIL_HOST } from '../email/mail-job.ts';

/** Organizations that a claim looks at. If more are due, the next claim begins with them. */
const ORGANIZATIONS_SEEN_MAX = 64;

/** The number of sends that a node may still make. */
export interface Room {
  /** Organizations with sends in flight on this node. */
  readonly busy: readonly BusyOrganization[];
  /** For any other organization. */
  readonly idle: {
    readonly sends: number;
    readonly bytes: number;
    readonly hostSends: number;
    /** To the SMTP server. */
    readonly mailSends: number;
  };
}

export interface BusyOrganization {
  readonly orgId: OrgId;
  readonly underWay: number;
  /** Further sends, and bytes of bodies; 0 or less: its share is full. */
  readonly sends: number;
  readonly bytes: number;
  /** Further sends to hosts that have some in flight; 0 or less: the host is full. */
  readonly hosts: ReadonlyMap<string, number>;
}

export interface ClaimRequest extends Room {
  /** New and random at each call. */
  readonly claim: string;
  /** After this time the deliveries are due again, for any live node. */
  readonly claimMs: number;
  readonly limit: number;
  /** For all bodies together; a claim of one delivery may be larger. */
  readonly bytes: number;
}

export interface ClaimRow {
  readonly org_id: OrgId;
  /** Null in the only row of a claim that got nothing. */
  readonly delivery_id: DeliveryId | null;
  readonly run_id: RunId;
  readonly seq: number | string;
  readonly url: string;
  readonly endpoint_id: EndpointId | '';
  readonly kind: DeliveryKind;
  readonly host: string;
  readonly event: string;
  readonly key_id: KeyId;
  readonly body: Buffer;
  readonly tries: number;
  readonly resent_from: EndStatus | null;
  readonly chosen_count: number;
  /** Deliveries that now wait for another one, and hosts that are due later or never. */
  readonly settled_count: number;
  /** Whether more may be due; null: no organization was. */
  readonly due_left: boolean | null;
  readonly next_due_ms: number | null;
}

/**
 * An organization or host that had a turn goes to the back: its turn is set to the first remaining delivery, or to now
 * when that is due already. A turn that another statement has changed since the snapshot is not changed; an early turn
 * is harmless.
 *
 * `is true` hides a condition from the planner: a row whose key is known is found by it, and not through an index of
 * what is due.
 *
 * The commit of a claim waits for the disk: a claim lost when Postgres dies would send the webhook a second time. A
 * claim that got nothing has only moved turns, and a full host causes many of those.
 */
export function claimStatement(sql: Sql, request: ClaimRequest) {
  const { claim, claimMs, limit, bytes, busy, idle } = request;
  const full = busy.filter(({ sends, bytes: left }) => sends <= 0 || left <= 0).map(({ orgId }) => orgId);
  const hosts = busy.flatMap(({ orgId, hosts }) => [...hosts].map(([host, sends]) => ({ orgId, host, sends })));
  const room = sql`unnest(${busy.map(({ orgId }) => orgId)}::text[], ${busy.map(({ sends }) => sends)}::int[],
      ${busy.map((each) => each.bytes)}::float8[], ${busy.map(({ underWay }) => underWay)}::int[])
      as b(org_id, sends, bytes, under_way)`;
  const hostRoom = sql`unnest(${hosts.map(({ orgId }) => orgId)}::text[], ${hosts.map(({ host }) => host)}::text[],
      ${hosts.map(({ sends }) => sends)}::int[]) as b(org_id, host, sends)`;
  return sql<ClaimRow[]>`
    with organizations as materialized (
      select o.org_id, o.changes, coalesce(b.bytes, ${idle.bytes}) as bytes, coalesce(b.under_way, 0) as under_way,
        least(coalesce(b.sends, ${idle.sends}), ceil(${limit}::float8 / count(*) over ()))::int as quota,
        array(select b.host from ${hostRoom} where b.org_id = o.org_id and b.sends <= 0) as full_hosts
      from (
        select org_id, changes from notifier.due_organizations
        where due_at <= statement_timestamp() and org_id <> all(${full}::text[])
        order by due_at limit ${ORGANIZATIONS_SEEN_MAX}) o
      left join ${room} on b.org_id = o.org_id
    ), hosts as materialized (
      select o.org_id, h.host, h.changes, least(o.quota,
        coalesce(b.sends, case h.host when ${MAIL_HOST} then ${idle.mailSends}::int else ${idle.hostSends}::int end))::int as quota
      from organizations o cross join lateral (
        select host, changes from notifier.due_hosts
        where org_id = o.org_id and due_at <= statement_timestamp() and host <> all(o.full_hosts)
        order by due_at limit o.quota) h
      left join ${hostRoom} on b.org_id = o.org_id and b.host = h.host
    ), seen as materialized (
      select h.org_id, h.host, h.quota, d.delivery_id, d.due_at, d.bytes, d.due_at <= statement_timestamp() as due,
        case when d.tries = 0 and d.due_at <= statement_timestamp() then (
          select e.delivery_id from notifier.deliveries e
          where e.org_id = h.org_id and e.run_id = d.run_id and e.endpoint_id = d.endpoint_id and e.seq < d.seq
            and e.status = 'pending' and e.tries = 0
          order by e.seq limit 1) end as behind
      from hosts h cross join lateral (
        select delivery_id, run_id, endpoint_id, seq, tries, due_at, octet_length(body) as bytes from notifier.deliveries
        where org_id = h.org_id and host = h.host and status = 'pending' and not waits
        order by due_at limit h.quota + 1) d
    ), of_host as (
      select s.*, row_number() over (partition by s.org_id, s.host order by s.due_at) as place
      from seen s where s.due and s.behind is null
    ), of_organization as (
      select h.*, row_number() over w as turn, sum(h.bytes) over w as organization_bytes
      from of_host h where h.place <= h.quota
      window w as (partition by h.org_id order by h.place, h.due_at rows unbounded preceding)
    ), in_turn as (
      select d.org_id, d.delivery_id, row_number() over w as turn, sum(d.bytes) over w as bytes
      from of_organization d join organizations o on o.org_id = d.org_id
      -- One with nothing under way gets one delivery of any size.
      where d.turn <= o.quota and (d.organization_bytes <= o.bytes or (d.turn = 1 and o.under_way = 0))
      window w as (order by o.under_way + d.turn, d.due_at rows unbounded preceding)
    ), chosen as materialized (
      select org_id, delivery_id from in_turn where turn <= ${limit} and (bytes <= ${bytes} or turn = 1)
    ), locked as materialized (
      select d.org_id, d.delivery_id from chosen c cross join lateral (
        select d.org_id, d.delivery_id from notifier.deliveries d
        where d.org_id = c.org_id and d.delivery_id = c.delivery_id
          and (d.status = 'pending' and not d.waits and d.due_at <= statement_timestamp()) is true
        for update skip locked) d
    ), claimed as (
      update notifier.deliveries d
      set claim = ${claim}, due_at = statement_timestamp() + make_interval(secs => ${claimMs / 1000})
      from locked l where d.org_id = l.org_id and d.delivery_id = l.delivery_id
      returning d.org_id, d.delivery_id, d.run_id, d.seq, d.url, d.endpoint_id, d.kind, d.host, d.event,
        d.key_id, d.body, d.tries, d.resent_from
    ), blocked as materialized (
      -- The one before is held: its first try cannot end, and look for its waiters, before this is committed.
      select d.org_id, d.delivery_id from seen s cross join lateral (
        select e.delivery_id from notifier.deliveries e
        where e.org_id = s.org_id and e.delivery_id = s.behind and (e.status = 'pending' and e.tries = 0) is true
        for share skip locked) e cross join lateral (
        select d.org_id, d.delivery_id from notifier.deliveries d
        where d.org_id = s.org_id and d.delivery_id = s.delivery_id and e.delivery_id is not null
          and (d.status = 'pending' and not d.waits and d.due_at <= statement_timestamp()) is true
        for update skip locked) d
      where s.behind is not null
    ), waiting as (
      update notifier.deliveries d set waits = true, claim = null
      from blocked b where d.org_id = b.org_id and d.delivery_id = b.delivery_id
      returning d.delivery_id
    ), host_turns as materialized (
      select h.org_id, h.host, h.changes, greatest(statement_timestamp(), case
        -- All that was read is on its way, and there may be more.
        when count(s.delivery_id) > h.quota and count(s.delivery_id) = count(coalesce(l.delivery_id, b.delivery_id))
          then statement_timestamp()
        else least(min(s.due_at) filter (where l.delivery_id is null and b.delivery_id is null),
          case when count(l.delivery_id) > 0
            then statement_timestamp() + make_interval(secs => ${claimMs / 1000}) end) end) as due_at,
        count(s.delivery_id) = count(b.delivery_id) and count(s.delivery_id) <= h.quota as over
      from hosts h
      left join seen s on s.org_id = h.org_id and s.host = h.host
      left join locked l on l.org_id = s.org_id and l.delivery_id = s.delivery_id
      left join blocked b on b.org_id = s.org_id and b.delivery_id = s.delivery_id
      group by h.org_id, h.host, h.changes, h.quota
    ), host_rows as materialized (
      select t.over, t.due_at, r.org_id, r.host from host_turns t cross join lateral (
        select h.org_id, h.host from notifier.due_hosts h
        where h.org_id = t.org_id and h.host = t.host and h.changes = t.changes
        for update skip locked) r
    ), hosts_moved as (
      update notifier.due_hosts h set due_at = r.due_at, changes = h.changes + 1
      from host_rows r where h.org_id = r.org_id and h.host = r.host and not r.over
      returning h.host
    ), hosts_over as (
      delete from notifier.due_hosts h using host_rows r where h.org_id = r.org_id and h.host = r.host and r.over
      returning h.host
    ), organization_turns as materialized (
      select o.org_id, o.changes, least(
        (select min(t.due_at) from host_turns t where t.org_id = o.org_id and not t.over),
        (select h.due_at from notifier.due_hosts h
          where h.org_id = o.org_id
            and h.host <> all(array(select t.host from host_turns t where t.org_id = o.org_id))
          order by h.due_at limit 1)) as due_at
      from organizations o
    ), organization_rows as materialized (
      select t.due_at, r.org_id from organization_turns t cross join lateral (
        select o.org_id from notifier.due_organizations o
        where o.org_id = t.org_id and o.changes = t.changes
        for update skip locked) r
    ), organizations_moved as (
      update notifier.due_organizations o
      set due_at = greatest(r.due_at, statement_timestamp()), changes = o.changes + 1
      from organization_rows r where o.org_id = r.org_id and r.due_at is not null
      returning o.org_id
    ), organizations_over as (
      delete from notifier.due_organizations o using organization_rows r
      where o.org_id = r.org_id and r.due_at is null
      returning o.org_id
    )
    select c.*, (select count(*) from chosen)::int as chosen_count,
      (select count(*) from blocked)::int + (
        select count(*) from host_rows where due_at > statement_timestamp() or over)::int as settled_count,
      (select count(*) = ${ORGANIZATIONS_SEEN_MAX} or bool_or(due_at <= statement_timestamp())
        from organization_turns) as due_left, (
      select extract(epoch from due_at - statement_timestamp()) * 1000 from notifier.due_organizations
      where due_at > statement_timestamp() and due_at < statement_timestamp() + interval '1 minute'
      order by due_at limit 1
    )::float8 as next_due_ms
    from (
      select case when not exists (select from claimed) then set_config('synchronous_commit', 'off', true) end
    ) flushed_later left join claimed c on true
    order by c.run_id, c.seq`;
}
