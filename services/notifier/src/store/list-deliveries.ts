// Deliveries for operators: newest first, a page at a time, each with its tries.
import type { DeliveryId, OrgId, RunId } from '@methods/base/ids';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import type { DeliveryRecord, DeliveryStatus, DeliveryTry } from '../delivery/delivery.ts';

export interface ListRequest {
  readonly orgId: OrgId;
  /** Null: all runs. */
  readonly runId: RunId | null;
  readonly limit: number;
  /** The page after this delivery; null for the first. */
  readonly after: string | null;
}

/** Tries read of one delivery: the automatic ones and the latest sent by hand, of which there may be any number. */
const TRIES_SHOWN_MAX = 20;

export function listDeliveries(reader: OrganizationReader, request: ListRequest): Promise<readonly DeliveryRecord[]> {
  return reader.read(request.orgId, async (sql) => withTries(sql, request.orgId, await pageStatement(sql, request)));
}

export function pageStatement(sql: TransactionSql, { orgId, runId, after, limit }: ListRequest) {
  return sql<DeliveryRow[]>`
    ${select(sql, runId === null ? sql`notifier.deliveries` : ofRun(sql, orgId, runId))}
    where org_id = ${orgId}
      ${after === null ? sql`` : sql`and delivery_id < ${after}`}
    order by delivery_id desc limit ${limit}`;
}

/** Null when the organization has no such delivery. */
export function getDelivery(
  reader: OrganizationReader,
  orgId: OrgId,
  deliveryId: DeliveryId,
): Promise<DeliveryRecord | null> {
  return reader.read(orgId, async (sql) => {
    const rows = await sql<DeliveryRow[]>`
      ${select(sql, sql`notifier.deliveries`)} where org_id = ${orgId} and delivery_id = ${deliveryId}`;
    return (await withTries(sql, orgId, rows))[0] ?? null;
  });
}

/** `offset 0` keeps the planner from walking over the whole organization in the order of the page. */
function ofRun(sql: TransactionSql, orgId: OrgId, runId: RunId) {
  return sql`(
    select org_id, delivery_id, run_id, seq, url, event, status, created_at, due_at from notifier.deliveries
    where org_id = ${orgId} and run_id = ${runId} offset 0) of_run`;
}

function select(sql: TransactionSql, from: ReturnType<typeof ofRun>) {
  return sql`
    select delivery_id, run_id, seq, url, event, status,
      extract(epoch from created_at)::float8 * 1000 as created_at_ms,
      case when status = 'pending' then extract(epoch from due_at)::float8 * 1000 else 0 end as next_try_at_ms
    from ${from}`;
}

export function triesStatement(sql: TransactionSql, orgId: OrgId, deliveryIds: readonly DeliveryId[]) {
  return sql<TryRow[]>`
    select t.delivery_id, extract(epoch from t.started_at)::float8 * 1000 as started_at_ms, t.duration_ms, t.http_status,
      t.error, t.answer_start
    from unnest(${[...deliveryIds]}::text[]) d(delivery_id) cross join lateral (
      select delivery_id, try, started_at, duration_ms, http_status, error, answer_start from notifier.delivery_tries
      where org_id = ${orgId} and delivery_id = d.delivery_id
      order by try desc limit ${TRIES_SHOWN_MAX}) t
    order by t.delivery_id, t.try`;
}

async function withTries(
  sql: TransactionSql,
  orgId: OrgId,
  rows: readonly DeliveryRow[],
): Promise<readonly DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const tries = await triesStatement(
    sql,
    orgId,
    rows.map((row) => row.delivery_id),
  );
  const byDelivery = new Map<string, DeliveryTry[]>(rows.map((row) => [row.delivery_id, []]));
  for (const row of tries) byDelivery.get(row.delivery_id)?.push(toTry(row));
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    runId: row.run_id,
    seq: Number(row.seq),
    url: row.url,
    event: row.event,
    status: row.status,
    createdAtMs: Math.round(row.created_at_ms),
    nextTryAtMs: Math.round(row.next_try_at_ms),
    tries: byDelivery.get(row.delivery_id) ?? [],
  }));
}

interface DeliveryRow {
  readonly delivery_id: DeliveryId;
  readonly run_id: RunId;
  readonly seq: number | string;
  readonly url: string;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly created_at_ms: number;
  readonly next_try_at_ms: number;
}

interface TryRow {
  readonly delivery_id: DeliveryId;
  readonly started_at_ms: number;
  readonly duration_ms: number;
  readonly http_status: number;
  readonly error: string;
  readonly answer_start: string;
}

function toTry(row: TryRow): DeliveryTry {
  return {
    startedAtMs: Math.round(row.started_at_ms),
    durationMs: row.duration_ms,
    httpStatus: row.http_status,
    error: row.error,
    answerStart: row.answer_start,
  };
}
