// Stores received events as deliveries, in one statement for each batch, so that a batch is stored whole or not at all.
import type { Sql, TransactionSql } from '@methods/postgres/pool';
import { MAIL_TRIES_BEFORE, type PlannedDelivery } from '../delivery/delivery.ts';

/** Postgres's number of the type: without it the driver takes an array of buffers for one buffer. */
const BYTEA = 17;

/**
 * Stores new deliveries and ignores a known (run, seq, URL or endpoint), since events may be repeated. When this
 * returns, the whole batch is durable. Returns the number of new ones.
 */
export async function storeDeliveries(sql: Sql | TransactionSql, planned: readonly PlannedDelivery[]): Promise<number> {
  if (planned.length === 0) return 0;
  // Two nodes that get the same events lock them in the same order.
  const rows = [...planned].sort(byRunAndSeq);
  const stored = await sql`
    insert into notifier.deliveries
      (org_id, delivery_id, run_id, seq, url, url_sha256, endpoint_id, kind, host, event, key_id, body, created_at, tries, due_at)
    select org_id, delivery_id, run_id, seq, url, sha256(convert_to(url || endpoint_id, 'UTF8')), endpoint_id, kind, host,
      event, key_id, body, to_timestamp(created_at_ms / 1000),
      case when kind = 'mail' then ${MAIL_TRIES_BEFORE}::int else 0 end,
      clock_timestamp() + make_interval(secs => due_in_ms / 1000)
    from unnest(
      ${rows.map((row) => row.orgId)}::text[], ${rows.map((row) => row.deliveryId)}::text[],
      ${rows.map((row) => row.runId)}::text[], ${rows.map((row) => row.seq)}::bigint[],
      ${rows.map((row) => row.url)}::text[], ${rows.map((row) => row.endpointId)}::text[],
      ${rows.map((row) => row.kind)}::text[], ${rows.map((row) => row.host)}::text[],
      ${rows.map((row) => row.event)}::text[], ${rows.map((row) => row.keyId)}::text[],
      ${sql.array(
        rows.map((row) => row.body),
        BYTEA,
      )}::bytea[], ${rows.map((row) => row.createdAtMs)}::float8[],
      ${rows.map((row) => row.dueInMs ?? 0)}::float8[]
    ) as t(org_id, delivery_id, run_id, seq, url, endpoint_id, kind, host, event, key_id, body, created_at_ms, due_in_ms)
    on conflict on constraint deliveries_once do nothing`;
  return stored.count;
}

function byRunAndSeq(a: PlannedDelivery, b: PlannedDelivery): number {
  return compare(a.orgId, b.orgId) || compare(a.runId, b.runId) || a.seq - b.seq || compare(a.endpointId, b.endpointId);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
