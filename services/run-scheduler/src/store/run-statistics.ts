// Counts of an organization's runs by status, time and method, and the newest failed runs with their errors. A call looks
// at a bounded number of runs, newest first, and reports how far it got.
import type { ProductionId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import type { RunError } from '../run/run.ts';
import { filterSql, isFilter, type RunFilter } from './run-filter.ts';
import { createdRange, type RunPlace, type RunRange, reachOf, withinReach } from './run-lists.ts';

export interface CountSelection extends RunRange, RunFilter {
  readonly createdAfterMs: number;
  readonly createdBeforeMs: number;
  readonly bucketMs: number;
}

/** Null: a total over it. */
export interface CountRow {
  readonly bucket: number | null;
  readonly method: ProductionId | null;
  readonly queued: number;
  readonly running: number;
  readonly waiting: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Median and 95th percentile of finished runs; null: there are none. */
  readonly running_times: readonly [number, number] | null;
  readonly queued_times: readonly [number, number] | null;
  readonly first_claim_max_ms: number | null;
}

export interface RunCounts {
  readonly rows: readonly CountRow[];
  /** Runs created before this were not looked at; null: all were. */
  readonly searchedToMs: number | null;
}

export interface FailedRun {
  readonly runId: RunId;
  readonly method: ProductionId;
  readonly failedAtMs: number;
  readonly isSealed: boolean;
  readonly error: RunError;
}

export interface FailedRuns {
  readonly runs: readonly FailedRun[];
  readonly searchedToMs: number | null;
}

interface FailedRow {
  readonly run_id: RunId;
  readonly method: ProductionId;
  readonly created_at_ms: number;
  readonly state_since_ms: number;
  readonly sealed: boolean;
  readonly error_json: string;
}

interface StatisticsOptions {
  readonly reader: OrganizationReader;
  readonly deadlineMs: number;
  readonly countedMax?: number;
  readonly lookedAtMax?: number;
}

/** Takes about 200 ms. */
const COUNTED_MAX = 100_000;
const LOOKED_AT_MAX = 20_000;
const FAILED_MAX = 1_000;

export class RunStatistics {
  constructor(private readonly options: StatisticsOptions) {}

  count(selection: CountSelection): Promise<RunCounts> {
    const { reader, deadlineMs, countedMax = COUNTED_MAX } = this.options;
    const reading = reader.read(selection.orgId, async (sql) => {
      const reach = await reachOf(sql, selection, countedMax);
      return { rows: await countRows(sql, selection, reach), searchedToMs: reach?.createdAtMs ?? null };
    });
    return withDeadline(reading, deadlineMs);
  }

  failed(selection: RunRange & RunFilter): Promise<FailedRuns> {
    const { reader, deadlineMs, lookedAtMax = LOOKED_AT_MAX } = this.options;
    const reading = reader.read(selection.orgId, async (sql) => {
      const reach = await reachOf(sql, selection, lookedAtMax);
      const rows = await failedRows(sql, { ...selection, statuses: ['failed'] }, reach);
      const last = rows.length > FAILED_MAX ? rows[FAILED_MAX - 1] : undefined;
      return {
        runs: rows.slice(0, FAILED_MAX).map(failedRun),
        searchedToMs: last?.created_at_ms ?? reach?.createdAtMs ?? null,
      };
    });
    return withDeadline(reading, deadlineMs);
  }
}

/** One pass over the runs: a row for each bucket, one for each method, and one for all. */
function countRows(sql: TransactionSql, selection: CountSelection, reach: RunPlace | null) {
  const { createdAfterMs, bucketMs } = selection;
  const filter = isFilter(selection) ? filterSql(sql, selection) : sql``;
  return sql<CountRow[]>`
    with counted as materialized (
      select method, status, queued_ms, running_ms, started_at_ms - created_at_ms as first_claim_ms,
        ((created_at_ms - ${createdAfterMs}::bigint - 1) / ${bucketMs}::bigint)::int as bucket
      from scheduler.runs
      where ${createdRange(sql, selection)} ${withinReach(sql, reach)} ${filter}
    )
    select bucket, method,
      count(*) filter (where status in ('queued', 'sleeping'))::int as queued,
      count(*) filter (where status = 'running')::int as running,
      count(*) filter (where status = 'waiting')::int as waiting,
      count(*) filter (where status = 'succeeded')::int as succeeded,
      count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'cancelled')::int as cancelled,
      percentile_disc(array[0.5, 0.95]) within group (order by running_ms::float8)
        filter (where status in ('succeeded', 'failed')) as running_times,
      percentile_disc(array[0.5, 0.95]) within group (order by queued_ms::float8)
        filter (where status in ('succeeded', 'failed')) as queued_times,
      max(first_claim_ms)::float8 as first_claim_max_ms
    from counted group by grouping sets ((bucket), (method), ())`;
}

function failedRows(sql: TransactionSql, selection: RunRange & RunFilter, reach: RunPlace | null) {
  return sql<FailedRow[]>`
    select run_id, method, created_at_ms::float8, state_since_ms::float8, content_id is not null as sealed,
      case when octet_length(error_json) < 65536 then error_json else '{}' end as error_json
    from scheduler.runs
    where ${createdRange(sql, selection)} ${withinReach(sql, reach)} ${filterSql(sql, selection)}
    order by runs.created_at_ms desc, run_id desc limit ${FAILED_MAX + 1}`;
}

function failedRun(row: FailedRow): FailedRun {
  const { code = '', kind = '', message = '', step = '' } = JSON.parse(row.error_json) as Partial<RunError>;
  return {
    runId: row.run_id,
    method: row.method,
    failedAtMs: row.state_since_ms,
    isSealed: row.sealed,
    error: { code, kind, message, step },
  };
}
