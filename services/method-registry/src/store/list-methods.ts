// The page of an organization's methods, newest first. Ids sort by creation, so the primary key, read backwards, is the
// order: a page without a search reads one row more than it shows.
import type { MethodRow } from './method-rows.ts';
import { methodColumns, methodJoins } from './method-rows.ts';
import type { MethodSelection } from './method-store.ts';
import type { Statements } from './query.ts';

/**
 * A search reads on from the cursor until the page is full. No trigram index: matching is not leakproof, so under
 * row-level security Postgres would never use it; ten thousand names are read in a few milliseconds.
 */
export function listMethods(sql: Statements, { orgId, search, page: { below, limit } }: MethodSelection) {
  return sql<MethodRow[]>`
    with page as materialized (
      select * from registry.methods
      where org_id = ${orgId}
        ${below === null ? sql`` : sql`and method_id < ${below}`}
        ${search === '' ? sql`` : sql`and strpos(folded_name, (select lower(${search}))) > 0`}
      order by method_id desc limit ${limit + 1}
    )
    select ${methodColumns(sql)}
    from page m
    ${methodJoins(sql)}
    order by m.method_id desc`;
}
