// Lists the queues of an organization: what their runs need, how many wait, and since when. It steps from queue to queue
// along the index, so that a queue of a million runs costs no more than its first thousand.
import type { OrgId, ProductionId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';

export interface QueueRow {
  /** As the queue's key names it, with needs and content key. */
  readonly method: ProductionId;
  readonly waiting: number;
  readonly oldestQueuedAtMs: number;
}

export interface QueuePlace {
  /** The name of the queue. */
  readonly method: ProductionId;
  readonly queuedAtMs: number;
  /** At most one more than AHEAD_MAX. */
  readonly ahead: number;
}

export const QUEUES_MAX = 200;
export const COUNTED_MAX = 1_000;
export const AHEAD_MAX = 1_000;

export class QueueList {
  constructor(private readonly options: { readonly reader: OrganizationReader; readonly deadlineMs: number }) {}

  /** Returns at most one more than QUEUES_MAX, and of each counts at most one more than COUNTED_MAX. */
  all(orgId: OrgId): Promise<readonly QueueRow[]> {
    const reading = this.options.reader.read(
      orgId,
      (sql) => sql<QueueRow[]>`
        with recursive heads(method, n) as (
          (select method, 1 from scheduler.queue where org_id = ${orgId} order by org_id, method limit 1)
          union all
          select (select q.method from scheduler.queue q where q.org_id = ${orgId} and q.method > h.method
            order by q.org_id, q.method limit 1), h.n + 1
          from heads h where h.method is not null and h.n <= ${QUEUES_MAX}
        )
        select h.method, c.waiting, c.oldest::float8 as "oldestQueuedAtMs"
        from heads h cross join lateral (
          select count(*)::int as waiting, min(queued_at_ms) as oldest from (
            select queued_at_ms from scheduler.queue q where q.org_id = ${orgId} and q.method = h.method
            order by q.queued_at_ms, q.run_id limit ${COUNTED_MAX + 1}) first) c
        where h.method is not null and c.waiting > 0`,
    );
    return withDeadline(reading, this.options.deadlineMs);
  }

  /** Null: the run is in no queue. */
  place(orgId: OrgId, runId: string): Promise<QueuePlace | null> {
    const reading = this.options.reader.read(orgId, async (sql) => {
      const [place] = await sql<QueuePlace[]>`
        select mine.method, mine.queued_at_ms::float8 as "queuedAtMs", before.ahead
        from scheduler.queue mine cross join lateral (
          select count(*)::int as ahead from (
            select from scheduler.queue q where q.org_id = ${orgId} and q.method = mine.method
              and (q.queued_at_ms, q.run_id) < (mine.queued_at_ms, mine.run_id)
            order by q.queued_at_ms, q.run_id limit ${AHEAD_MAX + 1}) first) before
        where mine.org_id = ${orgId} and mine.run_id = ${runId}`;
      return place ?? null;
    });
    return withDeadline(reading, this.options.deadlineMs);
  }
}
