// Runs whose retention is over, in Postgres: found by their ids, which begin with the shard and the time of their
// start, and deleted by one statement that holds the shard's epoch, as every write of runs does.
import { type OrgId, type RunId, runIdBound } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import { arrayLiteral } from '../store/array-literal.ts';

export interface RunKey {
  readonly runId: RunId;
  readonly orgId: OrgId;
}

export interface AgedRun extends RunKey {
  /** Days after its end at which it is deleted. */
  readonly keptDays: number;
}

export interface Deleted {
  /** False: the shard has another epoch, and nothing was deleted. */
  readonly held: boolean;
  readonly runs: number;
  readonly steps: number;
  readonly folders: number;
}

// Selects only the ids, which the key's index has: skipping a run that is kept does not read its row.
export const pageQuery = `select run_id, org_id from scheduler.runs
  where (run_id, org_id) > ($1, $2) and run_id < $3 order by run_id, org_id limit $4`;

// An event has the time of its change, by clocks of owners that are less than an hour apart: a younger event belongs to
// no run that ended a day ago. "is true" keeps each look-up on the run's own key.
export const deleteQuery = `with held as materialized (
    select shard from scheduler.shards where shard = $1::smallint and epoch = $2::bigint for share),
  unsent as materialized (
    select run_id, org_id from scheduler.outbox
    where shard = $1::smallint
      and created_at_ms <= (select (extract(epoch from clock_timestamp()) * 1000)::bigint - 82800000)),
  gone as (
    delete from scheduler.runs r using unnest($3::text[], $4::text[], $5::integer[]) as t(run_id, org_id, kept_days)
    where r.run_id = t.run_id and (r.org_id = t.org_id) is true and (r.shard in (select shard from held)) is true
      and r.status in ('succeeded', 'failed', 'cancelled')
      and r.state_since_ms <= extract(epoch from clock_timestamp()) * 1000 - t.kept_days::bigint * 86400000
      and ((r.run_id, r.org_id) in (select run_id, org_id from unsent)) is not true
    returning r.run_id, r.org_id),
  steps as (
    delete from scheduler.steps s using gone g where s.run_id = g.run_id and (s.org_id = g.org_id) is true returning 1),
  questions as (
    delete from scheduler.questions q using gone g where q.run_id = g.run_id and (q.org_id = g.org_id) is true),
  folders as (
    delete from scheduler.run_folders f using gone g where f.run_id = g.run_id and (f.org_id = g.org_id) is true
    returning 1),
  files as (
    delete from scheduler.run_files f using gone g where f.run_id = g.run_id and (f.org_id = g.org_id) is true
    returning f.file_id, f.org_id),
  looked as (
    update scheduler.files f set look_at_ms = least(f.look_at_ms, f.expires_at_ms)
    from (select distinct file_id, org_id from files) n
    where f.file_id = n.file_id and (f.org_id = n.org_id) is true returning 1)
  select exists(select from held) as held, (select count(*) from gone)::int as runs,
    (select count(*) from steps)::int as steps, (select count(*) from folders)::int as folders`;

export class OldRuns {
  constructor(
    private readonly options: {
      /** With the planner settings of the writing connection: plans made on young tables are bad for full ones. */
      readonly sql: Sql;
      readonly deadlineMs: number;
    },
  ) {}

  /** Returns the shard's next runs after `after` that were started before `beforeMs`, oldest first. */
  async page(shard: number, after: RunKey | null, beforeMs: number, limit: number): Promise<RunKey[]> {
    const { runId, orgId } = after ?? { runId: runIdBound(shard, 0), orgId: '' };
    const rows = await this.run<{ run_id: RunId; org_id: OrgId }>(pageQuery, [
      runId,
      orgId,
      runIdBound(shard, beforeMs),
      String(limit),
    ]);
    return rows.map((row) => ({ runId: row.run_id, orgId: row.org_id }));
  }

  /**
   * Deletes those of the shard's runs that are finished, old enough by the database's clock, and have no unsent event,
   * with their steps and folders.
   */
  async delete(shard: number, epoch: number, runs: readonly AgedRun[]): Promise<Deleted> {
    const [row] = await this.run<Deleted>(deleteQuery, [
      String(shard),
      String(epoch),
      arrayLiteral(runs.map((run) => run.runId)),
      arrayLiteral(runs.map((run) => run.orgId)),
      arrayLiteral(runs.map((run) => run.keptDays)),
    ]);
    return row ?? { held: false, runs: 0, steps: 0, folders: 0 };
  }

  private run<Row extends object>(text: string, parameters: string[]): Promise<Row[]> {
    return withDeadline(this.options.sql.unsafe<Row[]>(text, parameters, { prepare: true }), this.options.deadlineMs);
  }
}
