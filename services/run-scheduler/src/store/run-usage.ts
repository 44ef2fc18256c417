// Totals of an organization's runs, by day and method. A call reads a bounded number of runs, newest first, as lists
// with a filter do; the next call continues after them.
import type { ProductionId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { TransactionSql } from '@methods/postgres/pool';
import { createdRange, type RunPlace, type RunRange, reachOf, withinReach } from './run-lists.ts';

export interface UsageSelection extends RunRange {
  /** wf_...; empty: all. */
  readonly method: ProductionId | '';
}

export interface DayUsage {
  readonly method: ProductionId;
  /** Days since the epoch, in UTC. */
  readonly day: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly unfinished: number;
  readonly waited: number;
  readonly queuedMs: number;
  readonly runningMs: number;
  readonly waitingMs: number;
  /** Median and 95th percentile of finished runs; null: there are none. */
  readonly queued: readonly [number, number] | null;
  readonly running: readonly [number, number] | null;
  /** Accepted answers to the runs' questions. */
  readonly answers: number;
  /** Time from the questions to their answers. */
  readonly answeringMs: number;
  readonly answering: readonly [number, number] | null;
}

export interface UsagePage {
  readonly rows: readonly DayUsage[];
  /** Where the next page begins; null at the end. */
  readonly next: RunPlace | null;
}

const LOOKED_AT_MAX = 5_000;
/** Per run: a run that loops over an ask may have any number of answers. */
const ANSWERS_MAX = 100;

export class RunUsage {
  constructor(
    private readonly options: {
      readonly reader: OrganizationReader;
      readonly deadlineMs: number;
      /** Runs that a page reads. */
      readonly lookedAtMax?: number;
    },
  ) {}

  page(selection: UsageSelection): Promise<UsagePage> {
    const { reader, deadlineMs, lookedAtMax = LOOKED_AT_MAX } = this.options;
    const reading = reader.read(selection.orgId, async (sql) => {
      const reach = await reachOf(sql, selection, lookedAtMax);
      return { rows: await rowsOf(sql, selection, reach), next: reach };
    });
    return withDeadline(reading, deadlineMs);
  }
}

function rowsOf(sql: TransactionSql, selection: UsageSelection, reach: RunPlace | null) {
  const { method, orgId } = selection;
  const looked = sql`${createdRange(sql, selection)} ${withinReach(sql, reach)} ${method === '' ? sql`` : sql`and method = ${method}`}`;
  // Each set is computed once: a join that computes one of them again for each row of the other is slow while the
  // planner has no statistics of the tables.
  return sql<DayUsage[]>`
    with summed as materialized (
      select run_id, method, (created_at_ms / 86400000)::int as day, status, queued_ms, running_ms, waiting_ms
      from scheduler.runs
      where ${looked}
    ), usage as (
      select method, day,
        count(*) filter (where status = 'succeeded')::int as succeeded,
        count(*) filter (where status = 'failed')::int as failed,
        count(*) filter (where status = 'cancelled')::int as cancelled,
        count(*) filter (where status not in ('succeeded', 'failed', 'cancelled'))::int as unfinished,
        count(*) filter (where waiting_ms > 0)::int as waited,
        sum(queued_ms)::float8 as "queuedMs", sum(running_ms)::float8 as "runningMs", sum(waiting_ms)::float8 as "waitingMs",
        percentile_disc(array[0.5, 0.95]) within group (order by queued_ms::float8)
          filter (where status in ('succeeded', 'failed', 'cancelled')) as queued,
        percentile_disc(array[0.5, 0.95]) within group (order by running_ms::float8)
          filter (where status in ('succeeded', 'failed', 'cancelled')) as running
      from summed
      group by method, day
    ), answers as materialized (
      select method, day, count(*)::int as answers, sum(took)::float8 as "answeringMs",
        percentile_disc(array[0.5, 0.95]) within group (order by took::float8) as answering
      from summed
      cross join lateral (
        select asked.closed_at_ms - asked.asked_at_ms as took from scheduler.questions asked
        where asked.org_id = ${orgId} and asked.run_id = summed.run_id and asked.state = 'answered'
        limit ${ANSWERS_MAX}) answered
      group by method, day
    )
    select method, day, succeeded, failed, cancelled, unfinished, waited, "queuedMs", "runningMs", "waitingMs", queued, running,
      coalesce(answers, 0) as answers, coalesce("answeringMs", 0) as "answeringMs", answering
    from usage left join answers using (method, day)
    order by day desc, method`;
}
