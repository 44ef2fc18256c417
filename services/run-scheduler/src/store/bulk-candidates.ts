// Finds the runs that a change of many runs is for, newest first: those that a filter matches among a bounded number, or
// those that were named.
import type { OrgId, RunId } from '@methods/base/ids';
import { withDeadline } from '@methods/postgres/deadline';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Run } from '../run/run.ts';
import { filterSql, type RunFilter } from './run-filter.ts';
import { createdRange, type RunPlace, type RunRange, reachOf, withinReach } from './run-lists.ts';

export interface BulkCandidate {
  readonly runId: RunId;
  readonly status: Run['status'];
  readonly onDevice: boolean;
  readonly hasWebhook: boolean;
}

const LOOKED_AT_A_PAGE = 5_000;

export class BulkCandidates {
  constructor(private readonly options: { readonly reader: OrganizationReader; readonly deadlineMs: number }) {}

  /** `next`: where the next page begins; null at the end. */
  matching(selection: RunRange & RunFilter): Promise<{ runs: readonly BulkCandidate[]; next: RunPlace | null }> {
    const { reader, deadlineMs } = this.options;
    const reading = reader.read(selection.orgId, async (sql) => {
      const reach = await reachOf(sql, selection, LOOKED_AT_A_PAGE);
      const runs = await sql<BulkCandidate[]>`
        select run_id as "runId", status, content_id is not null as "onDevice", webhook_url is not null as "hasWebhook"
        from scheduler.runs
        where ${createdRange(sql, selection)} ${withinReach(sql, reach)} ${filterSql(sql, selection)}
        order by runs.created_at_ms desc, run_id desc limit ${LOOKED_AT_A_PAGE}`;
      return { runs, next: reach };
    });
    return withDeadline(reading, deadlineMs);
  }

  named(orgId: OrgId, runIds: readonly RunId[]): Promise<readonly BulkCandidate[]> {
    const reading = this.options.reader.read(
      orgId,
      (sql) => sql<BulkCandidate[]>`
        select run_id as "runId", status, content_id is not null as "onDevice", webhook_url is not null as "hasWebhook"
        from scheduler.runs where run_id = any(${[...runIds]}::text[]) and org_id = ${orgId}`,
    );
    return withDeadline(reading, this.options.deadlineMs);
  }
}
