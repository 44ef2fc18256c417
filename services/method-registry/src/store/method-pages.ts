// The page of an organization's methods, newest first. Ids sort by creation, so the primary key, read backwards, is the
// order: a page without a search reads one row more than it shows.
import type { MethodId, OrgId } from '@methods/base/ids';
import type { PageRequest } from '../page/page.ts';
import { type MethodRow, methodColumns, methodJoins } from './method-rows.ts';
import type { Statements } from './query.ts';

/** Names that one page of a search looks at. */
const LOOKED_AT_MAX = 20_000;

export interface MethodSelection {
  readonly orgId: OrgId;
  /** A part of the display name, in any case; empty: all. */
  readonly search: string;
  readonly page: PageRequest;
}

/** The last method that a page of a search looks at; null when the list ends before. */
export async function searchReach(
  sql: Statements,
  { orgId, page: { below } }: MethodSelection,
): Promise<string | null> {
  const [row] = await sql<{ method_id: MethodId }[]>`
    select method_id from registry.methods
    where org_id = ${orgId} ${below === null ? sql`` : sql`and method_id < ${below}`}
    order by method_id desc offset ${LOOKED_AT_MAX - 1} limit 1`;
  return row?.method_id ?? null;
}

/**
 * A search reads on from the cursor until the page is full or `reach` is passed. No trigram index: matching is not
 * leakproof, so under row-level security Postgres would never use it; ten thousand names are read in a few milliseconds.
 */
export function listMethods(
  sql: Statements,
  { orgId, search, page: { below, limit } }: MethodSelection,
  reach: string | null,
) {
  return sql<MethodRow[]>`
    with page as materialized (
      select * from registry.methods
      where org_id = ${orgId}
        ${below === null ? sql`` : sql`and method_id < ${below}`}
        ${reach === null ? sql`` : sql`and method_id >= ${reach}`}
        ${search === '' ? sql`` : sql`and strpos(folded_name, (select lower(${search}))) > 0`}
      order by method_id desc limit ${limit + 1}
    )
    select ${methodColumns(sql)}
    from page m
    ${methodJoins(sql)}
    order by m.method_id desc`;
}
