// Changes of many runs and the runs that each of them has left to do. Times are the database's, so that gateways that
// take changes over from each other agree on them.
import type { BulkId, OrgId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import { arrayLiteral } from './array-literal.ts';

export type BulkAction = 'cancel' | 'rerun' | 'rerun_failed_step';
export type BulkState = 'prepared' | 'running' | 'done' | 'stopped';
export type BulkItemState = 'todo' | 'done' | 'failed';

export interface BulkRow {
  readonly bulk_id: BulkId;
  readonly action: BulkAction;
  readonly state: BulkState;
  readonly by_json: string;
  readonly created_at_ms: number;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly passed_over_json: string;
  readonly more: boolean;
}

export interface BulkItemRow {
  readonly position: number;
  readonly run_id: RunId;
  readonly state: BulkItemState;
  readonly reason: string;
  readonly new_run_id: RunId | '';
}

export interface NewBulk {
  readonly bulkId: BulkId;
  readonly orgId: OrgId;
  readonly action: BulkAction;
  readonly byJson: string;
  readonly passedOver: Readonly<Record<string, number>>;
  readonly more: boolean;
  readonly runIds: readonly RunId[];
}

export interface BulkAddress {
  readonly orgId: OrgId;
  readonly bulkId: BulkId;
}

const COLUMNS = `bulk_id, action, state, by_json, created_at_ms::float8, started_at_ms::float8, finished_at_ms::float8,
  total, done, failed, passed_over_json, more`;
const NOW_MS = `(extract(epoch from clock_timestamp()) * 1000)::bigint`;
const ITEMS_A_STATEMENT = 5_000;
const DRIVEN_MS = 60_000;
const KEPT_MS = 30 * 86_400_000;
/** Of one that is not started. */
const PREPARED_KEPT_MS = 86_400_000;

export class BulkStore {
  constructor(private readonly options: { readonly sql: Sql; readonly deadlineMs: number }) {}

  /** Counts those that are prepared or running, up to `limit`. */
  async countOpen(orgId: OrgId, limit: number): Promise<number> {
    const [row] = await this.query<{ count: number }>(
      `select count(*)::int as count from (
        select from scheduler.bulks where org_id = $1 and bulk_id > '' and state in ('prepared', 'running')
        order by org_id desc, bulk_id desc limit $2) open`,
      [orgId, String(limit)],
    );
    return row?.count ?? 0;
  }

  /** The change is visible once all its runs are there. */
  async add({ bulkId, orgId, action, byJson, passedOver, more, runIds }: NewBulk): Promise<BulkRow> {
    return this.options.sql.begin(async (sql) => {
      const [row] = await sql.unsafe<BulkRow[]>(
        `insert into scheduler.bulks (bulk_id, org_id, action, state, by_json, created_at_ms, total, passed_over_json, more)
        values ($1, $2, $3, 'prepared', $4, ${NOW_MS}, $5, $6, $7) returning ${COLUMNS}`,
        [bulkId, orgId, action, byJson, runIds.length, JSON.stringify(passedOver), more],
      );
      for (let from = 0; from < runIds.length; from += ITEMS_A_STATEMENT) {
        await sql.unsafe(
          `insert into scheduler.bulk_items (bulk_id, org_id, position, run_id)
          select $1, $2, $3 + n, run_id from unnest($4::text[]) with ordinality as t(run_id, n)`,
          [bulkId, orgId, from, arrayLiteral(runIds.slice(from, from + ITEMS_A_STATEMENT))],
        );
      }
      if (row === undefined) throw new Error('an insert returned no row');
      return row;
    });
  }

  /** Null: there is none. */
  async find({ orgId, bulkId }: BulkAddress): Promise<BulkRow | null> {
    const [row] = await this.query<BulkRow>(
      `select ${COLUMNS} from scheduler.bulks where bulk_id = $1 and org_id = $2`,
      [bulkId, orgId],
    );
    return row ?? null;
  }

  /** The newest first; `before` is the id after which the page begins, or empty. */
  list(orgId: OrgId, before: string, limit: number): Promise<readonly BulkRow[]> {
    return this.query<BulkRow>(
      `select ${COLUMNS} from scheduler.bulks where org_id = $1 and bulk_id < $2
      order by org_id desc, bulk_id desc limit $3`,
      [orgId, before === '' ? '~' : before, String(limit)],
    );
  }

  items({ orgId, bulkId }: BulkAddress, state: BulkItemState | null, after: number, limit: number) {
    // Each state is a text of its own: the index of one state serves only a statement that names it.
    const only = state === null ? '' : `and state = '${state}'`;
    return this.query<BulkItemRow>(
      `select position, run_id, state, reason, new_run_id from scheduler.bulk_items
      where bulk_id = $1 and org_id = $2 and position > $3::int ${only} order by position limit $4`,
      [bulkId, orgId, String(after), String(limit)],
    );
  }

  /** `byJson`: null changes no name. Null: there is none. A change in another state stays as it is. */
  async move(
    { orgId, bulkId }: BulkAddress,
    from: readonly BulkState[],
    to: 'running' | 'stopped',
    byJson: string | null,
  ): Promise<BulkRow | null> {
    const time = to === 'running' ? 'started_at_ms' : 'finished_at_ms';
    const [row] = await this.query<BulkRow>(
      `update scheduler.bulks set state = $3, ${time} = ${NOW_MS}, by_json = coalesce(nullif($5, ''), by_json)
      where bulk_id = $1 and org_id = $2 and state = any($4::text[]) returning ${COLUMNS}`,
      [bulkId, orgId, to, arrayLiteral([...from]), byJson ?? ''],
    );
    return row ?? this.find({ orgId, bulkId });
  }

  /** Null: another driver has it, or it is not running. It is done when nothing is left. */
  async take(address: BulkAddress, driver: string, limit: number) {
    const { orgId, bulkId } = address;
    const [bulk] = await this.query<BulkRow>(
      `update scheduler.bulks set driver = $3, driven_until_ms = ${NOW_MS} + ${DRIVEN_MS}
      where bulk_id = $1 and org_id = $2 and state = 'running' and (driver = $3 or driven_until_ms < ${NOW_MS})
      returning ${COLUMNS}`,
      [bulkId, orgId, driver],
    );
    if (bulk === undefined) return null;
    const items = await this.items(address, 'todo', 0, limit);
    if (items.length > 0) return { bulk, items };
    await this.query(
      `update scheduler.bulks set state = 'done', finished_at_ms = ${NOW_MS}
      where bulk_id = $1 and org_id = $2 and state = 'running'`,
      [bulkId, orgId],
    );
    return { bulk, items };
  }

  /** A repeated report changes nothing. */
  async report({ orgId, bulkId }: BulkAddress, items: readonly Omit<BulkItemRow, 'run_id'>[]): Promise<void> {
    await this.query(
      `with reported as (
        update scheduler.bulk_items i set state = t.state, reason = t.reason, new_run_id = t.new_run_id
        from unnest($3::int[], $4::text[], $5::text[], $6::text[]) as t(position, state, reason, new_run_id)
        where i.bulk_id = $1 and i.org_id = $2 and i.position = t.position and i.state = 'todo' and t.state <> 'todo'
        returning i.state)
      update scheduler.bulks set done = done + (select count(*) from reported where state = 'done'),
        failed = failed + (select count(*) from reported where state = 'failed')
      where bulk_id = $1 and org_id = $2`,
      [
        ...[bulkId, orgId],
        arrayLiteral(items.map(({ position }) => position)),
        arrayLiteral(items.map(({ state }) => state)),
        arrayLiteral(items.map(({ reason }) => reason)),
        arrayLiteral(items.map(({ new_run_id: newRunId }) => newRunId)),
      ],
    );
  }

  /** Running ones of all organizations that no gateway drives, the longest idle first. */
  idle(limit: number) {
    return this.query<{ org_id: OrgId; bulk_id: BulkId }>(
      `select org_id, bulk_id from scheduler.bulks where state = 'running' and driven_until_ms < ${NOW_MS}
      order by driven_until_ms, bulk_id limit $1`,
      [String(limit)],
    );
  }

  /** Deletes a few old ones; one that runs is kept. */
  async sweep(limit: number): Promise<void> {
    await this.query(
      `delete from scheduler.bulks b using (
        select bulk_id, org_id from scheduler.bulks
        where created_at_ms < ${NOW_MS} - ${PREPARED_KEPT_MS} and (created_at_ms < ${NOW_MS} - ${KEPT_MS} or state = 'prepared')
          and state <> 'running'
        order by created_at_ms limit $1) old
      where b.bulk_id = old.bulk_id and b.org_id = old.org_id`,
      [String(limit)],
    );
  }

  private query<Row extends object>(text: string, parameters: readonly string[]): Promise<readonly Row[]> {
    const query = this.options.sql.unsafe<Row[]>(text, [...parameters], { prepare: true });
    return withDeadline(query, this.options.deadlineMs);
  }
}
