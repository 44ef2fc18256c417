// Methods in registry.methods and publications. Each change is one statement, and so all or nothing without a
// transaction held open over the network.
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { Method } from '../method/method.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
import { auditRow } from './audit-store.ts';
import { type MethodRow, methodColumns, methodJoins, toMethod } from './method-rows.ts';
import { Database, query, Reader, type Statements } from './registry-database.ts';

interface Publication {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly doer: Doer;
}

/** Null fields are not changed. */
interface MethodChange {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly displayName: string | null;
  /** Empty removes the prompt. */
  readonly agentPrompt: string | null;
  readonly doer: Doer;
}

@injectable()
export class MethodStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** @throws ServiceError not_found. */
  async find(orgId: OrgId, methodId: MethodId): Promise<{ method: Method; agentPrompt: string }> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(MethodRow & { agent_prompt: string | null })[]>`
          select ${methodColumns(sql)}, m.agent_prompt
          from registry.methods m
          ${methodJoins(sql)}
          where m.org_id = ${orgId} and m.method_id = ${methodId}`,
      ),
    );
    if (row === undefined) throw new ServiceError('not_found', 'There is no such method.');
    return { method: toMethod(row), agentPrompt: row.agent_prompt ?? '' };
  }

  /** Returns those of the bare ids that the organization has. */
  async existing(orgId: OrgId, methodIds: readonly MethodId[]): Promise<ReadonlySet<string>> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<{ method_id: MethodId }[]>`
          select method_id from registry.methods
          where org_id = ${orgId} and method_id = any(${[...methodIds]}::text[])`,
      ),
    );
    return new Set(rows.map((row) => row.method_id));
  }

  /** Newest first. */
  async list(selection: MethodSelection): Promise<Page<Method>> {
    const reading = this.reader.read(selection.orgId, async (sql) => {
      const reach = selection.search === '' ? null : await searchReach(sql, selection);
      return { rows: await listMethods(sql, selection, reach), reach };
    });
    const { rows, reach } = await query(reading);
    return pageOf(rows.map(toMethod), selection.page.limit, ({ methodId }) => methodId, reach);
  }

  /** A repeat changes nothing. @throws ServiceError not_found. */
  async change({ orgId, methodId, displayName, agentPrompt, doer }: MethodChange): Promise<Method> {
    const { sql } = this;
    await query(sql`
      with before as (
        select display_name, agent_prompt from registry.methods
        where org_id = ${orgId} and method_id = ${methodId}
        for update
      ), after as (
        select coalesce(${displayName}::text, display_name) as display_name,
          nullif(coalesce(${agentPrompt}::text, agent_prompt), '') as agent_prompt
        from before
      ), changed as (
        update registry.methods m set display_name = after.display_name, agent_prompt = after.agent_prompt,
          updated_at = greatest(m.updated_at, now())
        from after, before
        where m.org_id = ${orgId} and m.method_id = ${methodId}
          and (after.display_name <> before.display_name or after.agent_prompt is distinct from before.agent_prompt)
        returning m.org_id, m.method_id, before.display_name as name_before, m.display_name as name_after,
          coalesce(octet_length(before.agent_prompt), 0) as prompt_bytes_before,
          coalesce(octet_length(m.agent_prompt), 0) as prompt_bytes_after
      )
      ${auditRow(
        sql,
        { doer, action: 'method.update', targetKind: 'method' },
        {
          source: 'changed',
          targetId: sql`method_id`,
          before: sql`jsonb_build_object('display_name', name_before, 'agent_prompt_bytes', prompt_bytes_before)`,
          after: sql`jsonb_build_object('display_name', name_after, 'agent_prompt_bytes', prompt_bytes_after)`,
        },
      )}`);
    return (await this.find(orgId, methodId)).method;
  }

  /**
   * Publishing the published version again changes nothing, not even who published it. @throws ServiceError not_found.
   */
  async publish({ orgId, methodId, versionId, doer }: Publication): Promise<Method> {
    const { sql } = this;
    const noSuchVersion = () => new ServiceError('not_found', 'There is no such version.');
    await query(
      sql`
        with before as (
          select org_id, method_id, published_version from registry.methods
          where org_id = ${orgId} and method_id = ${methodId}
          for update
        ), published as (
          update registry.methods m set published_version = ${versionId}, updated_at = greatest(m.updated_at, now())
          from before b
          where m.org_id = b.org_id and m.method_id = b.method_id and b.published_version is distinct from ${versionId}
          returning m.org_id, m.method_id, m.published_version, b.published_version as published_before
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'method.publish', targetKind: 'method' },
            {
              source: 'published',
              targetId: sql`method_id`,
              before: sql`jsonb_build_object('published_version', published_before)`,
              after: sql`jsonb_build_object('published_version', published_version)`,
            },
          )}
        )
        insert into registry.publications (org_id, method_id, version_id, published_by)
        select org_id, method_id, published_version, ${doer.id} from published`,
      {
        methods_published_fkey: noSuchVersion,
        publications_version_fkey: noSuchVersion,
        // A method without a version cannot publish one.
        methods_version_check: noSuchVersion,
      },
    );
    return (await this.find(orgId, methodId)).method;
  }
}

/** Names that one page of a search reads. */
const LOOKED_AT_MAX = 20_000;

/**
 * Pages of an organization's methods, newest first. Ids sort by creation, so the primary key, read backwards, is the
 * order: a page without a search reads one row more than it shows.
 */
interface MethodSelection {
  readonly orgId: OrgId;
  /** A part of the display name, in any case; empty: all. */
  readonly search: string;
  readonly page: PageRequest;
}

/** Returns the last method that a page of a search reads; null when the list ends before. */
async function searchReach(sql: Statements, { orgId, page: { below } }: MethodSelection): Promise<string | null> {
  const [row] = await sql<{ method_id: MethodId }[]>`
    select method_id from registry.methods
    where org_id = ${orgId} ${below === null ? sql`` : sql`and method_id < ${below}`}
    order by method_id desc offset ${LOOKED_AT_MAX - 1} limit 1`;
  return row?.method_id ?? null;
}

/**
 * A search reads on from the cursor until the page is full or `reach` is passed. There is no trigram index: matching is
 * not leakproof, so under row-level security Postgres would never use it; ten thousand names are read in a few
 * milliseconds.
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
