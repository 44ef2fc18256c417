// Writes the outcomes of tries. A result counts only under the claim of its try: when the claim has expired and another
// node has tried since, that node records the delivery. What has arrived counts under a later claim too: it would be sent
// again.
import type { DeliveryId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import type { ClaimedDelivery, DeliveryTry } from '../delivery/delivery.ts';
import type { AfterTry } from '../delivery/schedule.ts';

export interface TryRecord {
  readonly delivery: ClaimedDelivery;
  readonly after: AfterTry;
  /** Null: nothing was sent; the delivery goes back and the try does not count. */
  readonly result: DeliveryTry | null;
}

/** Writes all in one statement; returns the ids of the deliveries whose result counts. */
export async function recordTries(sql: Sql, records: readonly TryRecord[]): Promise<ReadonlySet<string>> {
  if (records.length === 0) return new Set();
  const kept = await sql<{ delivery_id: DeliveryId }[]>`
    with done as (
      select * from unnest(
        ${records.map(({ delivery }) => delivery.orgId)}::text[],
        ${records.map(({ delivery }) => delivery.deliveryId)}::text[],
        ${records.map(({ delivery }) => delivery.claim)}::text[],
        ${records.map(({ after }) => after.status)}::text[],
        ${records.map(({ after }) => after.waitMs)}::float8[],
        ${records.map(({ delivery }) => delivery.tries)}::int[],
        ${records.map(({ result }) => (result === null ? 0 : 1))}::int[],
        ${records.map(({ result }) => result?.startedAtMs ?? 0)}::float8[],
        ${records.map(({ result }) => result?.durationMs ?? 0)}::int[],
        ${records.map(({ result }) => result?.httpStatus ?? 0)}::int[],
        ${records.map(({ result }) => result?.error ?? '')}::text[],
        ${records.map(({ result }) => result?.answerStart ?? '')}::text[]
      ) as t(org_id, delivery_id, claim, status, wait_ms, tries, sent, started_at_ms, duration_ms, http_status, error, answer_start)
    ), kept as (
      update notifier.deliveries d
      set status = t.status, claim = null,
        tries = d.tries + t.sent,
        resent_from = case when t.status = 'pending' then d.resent_from end,
        due_at = clock_timestamp() + make_interval(secs => t.wait_ms / 1000),
        -- Sending again by hand keeps no content longer.
        ended_at = case when t.status = 'pending' then null else coalesce(d.first_ended_at, clock_timestamp()) end
      from done t
      where d.org_id = t.org_id and d.delivery_id = t.delivery_id
        and (d.claim = t.claim or (t.status = 'delivered' and d.status = 'pending' and d.tries = t.tries))
      returning d.org_id, d.delivery_id, d.tries
    ), told as (
      insert into notifier.delivery_tries
        (org_id, delivery_id, try, started_at, duration_ms, http_status, error, answer_start)
      select k.org_id, k.delivery_id, k.tries, to_timestamp(t.started_at_ms / 1000), t.duration_ms, t.http_status,
        t.error, t.answer_start
      from kept k join done t on t.org_id = k.org_id and t.delivery_id = k.delivery_id
      where t.sent = 1
    )
    select delivery_id from kept`;
  return new Set(kept.map((row) => row.delivery_id));
}
