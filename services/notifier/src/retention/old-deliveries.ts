// Deliveries whose time is over: they hold questions and results, and are deleted when their runs are. Found by
// organization, so that rows which another one keeps for years are never read.
import type { OrgId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';

export interface OrganizationWithEnded {
  readonly orgId: OrgId;
  /** Since the end of the first of its deliveries to end. */
  readonly oldestDays: number;
}

/** The next organizations with ended deliveries, in the order of their ids. Costs one look into the index for each. */
export async function organizationsWithEnded(
  sql: Sql,
  afterOrgId: string,
  limit: number,
): Promise<OrganizationWithEnded[]> {
  const rows = await sql<{ org_id: OrgId; oldest_days: number }[]>`
    with recursive firsts as (
      (select org_id, ended_at from notifier.deliveries
        where status <> 'pending' and org_id > ${afterOrgId} order by org_id, ended_at limit 1)
      union all
      select next.org_id, next.ended_at from firsts cross join lateral (
        select org_id, ended_at from notifier.deliveries
        where status <> 'pending' and org_id > firsts.org_id order by org_id, ended_at limit 1) next
    )
    select org_id, (extract(epoch from clock_timestamp() - ended_at) / 86400)::float8 as oldest_days
    from firsts limit ${limit}`;
  return rows.map((row) => ({ orgId: row.org_id, oldestDays: row.oldest_days }));
}

/**
 * Deletes the organization's deliveries that ended that long ago, oldest first, with their tries; returns how many.
 * Rows that another node deletes are skipped.
 */
export async function deleteEnded(sql: Sql, orgId: OrgId, keptDays: number, limit: number): Promise<number> {
  return (await deletion(sql, orgId, keptDays, limit)).count;
}

export function deletion(sql: Sql, orgId: OrgId, keptDays: number, limit: number) {
  // The statement's time and not the clock's: an index is searched by what stays the same throughout. By place and not by
  // key: the rows are locked, so they stay there, and no plan reads the table for them.
  return sql`
    delete from notifier.deliveries where org_id = ${orgId} and ctid = any(array(
      select ctid from notifier.deliveries
      where org_id = ${orgId} and status <> 'pending'
        and ended_at <= statement_timestamp() - make_interval(hours => 24 * ${keptDays}::int)
      order by ended_at limit ${limit}
      for update skip locked))`;
}
