// Deliveries for operators: newest first, a page at a time, each with its tries.
import type { DeliveryId, EndpointId, OrgId, RunId } from '@methods/base/ids';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import {
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type DeliveryKind,
  type DeliveryRecord,
  type DeliveryStatus,
  type DeliveryTry,
  triesOf,
} from '../delivery/delivery.ts';

export interface DeliveryFilter {
  /** Null: all. */
  readonly runId: RunId | null;
  readonly endpointId: EndpointId | null;
  readonly status: DeliveryStatus | null;
  readonly kind: DeliveryKind | null;
}

export interface ListRequest extends DeliveryFilter {
  readonly orgId: OrgId;
  readonly limit: number;
  /** The page after this delivery; null for the first page. */
  readonly after: string | null;
}

/** Tries read of one delivery: the automatic ones and the latest ones sent by hand, which are unbounded. */
const TRIES_SHOWN_MAX = 20;
/** In a page, which has many deliveries. */
const LISTED_TRIES_MAX = 6;

export function listDeliveries(reader: OrganizationReader, request: ListRequest): Promise<readonly DeliveryRecord[]> {
  return reader.read(request.orgId, async (sql) =>
    withTries(sql, request.orgId, await pageStatement(sql, request), LISTED_TRIES_MAX),
  );
}

export function pageStatement(sql: TransactionSql, request: ListRequest) {
  const { orgId, after, limit } = request;
  return sql<DeliveryRow[]>`
    ${select(sql, listed(sql, request))}
    where org_id = ${orgId}
      ${after === null ? sql`` : sql`and delivery_id < ${after}`}
    order by delivery_id desc limit ${limit}`;
}

/** The ids of a page, without reading more of its deliveries. */
export function listDeliveryIds(reader: OrganizationReader, request: ListRequest): Promise<readonly DeliveryId[]> {
  return reader.read(request.orgId, async (sql) => {
    const rows = await pageStatement(sql, request);
    return rows.map((row) => row.delivery_id);
  });
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
    return (await withTries(sql, orgId, rows, TRIES_SHOWN_MAX))[0] ?? null;
  });
}

/**
 * Returns the rows from which a page is taken. Each filter has an index that ends with the delivery's id: a page of
 * every status and kind is read, and the newest of them form the page.
 */
function listed(sql: TransactionSql, request: ListRequest) {
  const { runId, endpointId, status, kind } = request;
  if (runId !== null) return ofRun(sql, request, runId);
  const statuses = status === null ? DELIVERY_STATUSES : [status];
  if (endpointId !== null) {
    const ofKind = kind === null ? sql`` : sql`and kind = ${kind}`;
    const parts = statuses.map((one) =>
      part(sql, request, sql`endpoint_id = ${endpointId} and endpoint_id <> '' and status = ${one} ${ofKind}`),
    );
    return union(sql, parts);
  }
  if (status === null && kind === null) return sql`notifier.deliveries`;
  const kinds = kind === null ? DELIVERY_KINDS : [kind];
  const pairs = kinds.flatMap((each) => statuses.map((one) => sql`kind = ${each} and status = ${one}`));
  return union(
    sql,
    pairs.map((pair) => part(sql, request, pair)),
  );
}

function part(sql: TransactionSql, { orgId, after, limit }: ListRequest, condition: ReturnType<typeof ofRun>) {
  return sql`(
    select ${columns(sql)} from notifier.deliveries
    where org_id = ${orgId} and ${condition} ${after === null ? sql`` : sql`and delivery_id < ${after}`}
    order by delivery_id desc limit ${limit})`;
}

function union(sql: TransactionSql, parts: readonly ReturnType<typeof part>[]) {
  const all = parts.reduce((before, one) => sql`${before} union all ${one}`);
  return sql`(${all}) listed`;
}

/** `offset 0` keeps the planner from reading the whole organization in the order of the page. */
function ofRun(sql: TransactionSql, { orgId, endpointId, status, kind }: ListRequest, runId: RunId) {
  return sql`(
    select ${columns(sql)} from notifier.deliveries
    where org_id = ${orgId} and run_id = ${runId}
      ${endpointId === null ? sql`` : sql`and endpoint_id = ${endpointId}`}
      ${status === null ? sql`` : sql`and status = ${status}`} ${kind === null ? sql`` : sql`and kind = ${kind}`}
    offset 0) of_run`;
}

function columns(sql: TransactionSql) {
  return sql`org_id, delivery_id, run_id, seq, url, endpoint_id, kind, event, status, tries, created_at, due_at`;
}

function select(sql: TransactionSql, from: ReturnType<typeof ofRun>) {
  return sql`
    select delivery_id, run_id, seq, url, endpoint_id, kind, event, status, tries,
      extract(epoch from created_at)::float8 * 1000 as created_at_ms,
      case when status = 'pending' then extract(epoch from due_at)::float8 * 1000 else 0 end as next_try_at_ms
    from ${from}`;
}

export function triesStatement(
  sql: TransactionSql,
  orgId: OrgId,
  deliveryIds: readonly DeliveryId[],
  max = TRIES_SHOWN_MAX,
) {
  return sql<TryRow[]>`
    select t.delivery_id, extract(epoch from t.started_at)::float8 * 1000 as started_at_ms, t.duration_ms, t.http_status,
      t.error, t.answer_start
    from unnest(${[...deliveryIds]}::text[]) d(delivery_id) cross join lateral (
      select delivery_id, try, started_at, duration_ms, http_status, error, answer_start from notifier.delivery_tries
      where org_id = ${orgId} and delivery_id = d.delivery_id
      order by try desc limit ${max}) t
    order by t.delivery_id, t.try`;
}

async function withTries(
  sql: TransactionSql,
  orgId: OrgId,
  rows: readonly DeliveryRow[],
  max: number,
): Promise<readonly DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.delivery_id);
  const tries = await triesStatement(sql, orgId, ids, max);
  const byDelivery = new Map<string, DeliveryTry[]>(rows.map((row) => [row.delivery_id, []]));
  for (const row of tries) byDelivery.get(row.delivery_id)?.push(toTry(row));
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    runId: row.run_id,
    seq: Number(row.seq),
    url: row.url,
    endpointId: row.endpoint_id,
    kind: row.kind,
    event: row.event,
    status: row.status,
    createdAtMs: Math.round(row.created_at_ms),
    nextTryAtMs: Math.round(row.next_try_at_ms),
    triesCount: triesOf(row),
    tries: byDelivery.get(row.delivery_id) ?? [],
  }));
}

interface DeliveryRow {
  readonly delivery_id: DeliveryId;
  readonly run_id: RunId;
  readonly seq: number | string;
  readonly url: string;
  readonly endpoint_id: EndpointId | '';
  readonly kind: DeliveryKind;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly tries: number;
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
