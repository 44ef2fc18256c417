// The statement that picks the next build: of the organization with the fewest in progress, then of the one served
// longest ago. It reads a few rows of each organization with due builds, for any number of builds.
import type { MethodId, OrgId, UploadId } from '@methods/base/ids';
import type { PendingQuery } from 'postgres';
import type { Statements } from './registry-database.ts';

/** Tries that may end without a result, since a recording may end the process that compiles it. */
export const BUILD_TRIES_MAX = 3;

/** The free places of a registry now. */
export interface ClaimTerms {
  readonly leaseMs: number;
  readonly takeLarge: boolean;
  /** Organizations that have their share of this registry's places. */
  readonly noneOf: readonly string[];
  /** Organizations that have their share of its places for large recordings. */
  readonly noLargeOf: readonly string[];
}

export interface ClaimedRow {
  readonly org_id: OrgId;
  readonly method_id: MethodId;
  readonly upload_id: UploadId;
  readonly is_large: boolean;
  readonly tries_before: number;
}

/** Read for each organization: others may be claiming the first ones. */
const CANDIDATES_MAX = 8;
/** Read in total. The first one that is not locked is taken, so usually one is enough. */
const ROWS_MAX = 64;

/** `token`: of the attempt that begins. */
export function claimBuild(sql: Statements, token: string, terms: ClaimTerms): PendingQuery<ClaimedRow[]> {
  const { leaseMs, noneOf, noLargeOf, takeLarge } = terms;
  // Only running builds are due later: when their lease expires.
  const due = (isLarge: boolean) => sql`
    select b.method_id, b.due_at from registry.builds b
    where b.org_id = o.org_id and b.is_large = ${isLarge} and b.due_at <= now()
    order by b.due_at limit ${CANDIDATES_MAX}`;
  const underWay = (isLarge: boolean) => sql`
    (select count(*) from registry.builds b
      where b.org_id = o.org_id and b.is_large = ${isLarge} and b.due_at > now())`;
  return sql<ClaimedRow[]>`
    with recursive organization as (
      (select org_id from registry.builds where due_at is not null order by org_id limit 1)
      union all
      select (
        select b.org_id from registry.builds b
        where b.org_id > o.org_id and b.due_at is not null order by b.org_id limit 1
      )
      from organization o where o.org_id is not null
    ), candidate as (
      select o.org_id, c.method_id, c.due_at, ${underWay(false)} + ${underWay(true)} as under_way,
        (select b.begun_at from registry.builds b
          where b.org_id = o.org_id and b.begun_at is not null order by b.begun_at desc limit 1) as served_at
      from organization o
      cross join lateral (
        (${due(false)})
        union all
        (select l.method_id, l.due_at from (${due(true)}) l
          where ${takeLarge} and o.org_id <> all(${[...noLargeOf]}::text[]))
      ) c
      where o.org_id <> all(${[...noneOf]}::text[])
    ), next as (
      select locked.org_id, locked.method_id, locked.attempts
      from (
        select org_id, method_id from candidate order by under_way, served_at nulls first, due_at limit ${ROWS_MAX}
      ) c
      cross join lateral (
        select b.org_id, b.method_id, b.attempts from registry.builds b
        where b.org_id = c.org_id and b.method_id = c.method_id and b.due_at <= now()
        for update skip locked
      ) locked
      limit 1
    ), claimed as (
      update registry.builds b set state = 'running', attempts = least(b.attempts + 1, ${BUILD_TRIES_MAX}),
        token = ${token}, begun_at = now(), due_at = now() + ${leaseMs} * interval '1 ms'
      from next n where b.org_id = n.org_id and b.method_id = n.method_id
      returning b.org_id, b.method_id, b.upload_id, b.is_large, n.attempts as tries_before
    ), moved as (
      ${moveMethods(sql, 'claimed')}
    )
    select org_id, method_id, upload_id, is_large, tries_before from claimed`;
}

/** Updates methods with their builds. `builds`: the changed rows, by their name in the statement. */
export function moveMethods(sql: Statements, builds: 'claimed' | 'ended' | 'released' | 'queued') {
  return sql`
    update registry.methods m set updated_at = greatest(m.updated_at, now())
    from ${sql(builds)} b where m.org_id = b.org_id and m.method_id = b.method_id`;
}
