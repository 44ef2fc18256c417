// The audit log in registry.audit, which the database itself only lets grow. Most lines are part of the statement that
// they record, so both are committed or neither. Lines of other services are written, and all lines are read, here.
import { type AuditId, idBound, newId, type OrgId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import { inject, injectable } from 'tsyringe';
import type { AuditEntry, Doer, DoerKind, ReportedAct, TargetKind } from '../audit/audit-entry.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
import { Database, query, Reader, type Statements } from './registry-database.ts';

/** Empty: all. */
interface AuditFilter {
  readonly action: string;
  readonly targetId: string;
  readonly doerId: string;
  /** At this time or later; null: any time. */
  readonly after: Date | null;
  /** Earlier than this; null: any time. */
  readonly before: Date | null;
}

/** An entry's id has the time of a service, and its `at` that of the database. */
const CLOCKS_APART_MS = 600_000;

interface AuditRow {
  readonly org_id: OrgId;
  readonly audit_id: AuditId;
  readonly at: Date;
  readonly doer_kind: DoerKind;
  readonly doer_id: string;
  readonly doer_name: string | null;
  readonly ip: string;
  readonly request_id: string;
  readonly client: string;
  readonly action: string;
  readonly target_kind: TargetKind;
  readonly target_id: string;
  readonly before: string | null;
  readonly after: string | null;
}

@injectable()
export class AuditStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** Records all or none; known audit ids are not changed. @throws ServiceError not_found for an organization. */
  async record(acts: readonly ReportedAct[]): Promise<void> {
    if (acts.length === 0) return;
    const column = <Value>(of: (act: ReportedAct) => Value) => acts.map(of);
    await query(
      this.sql`
        insert into registry.audit (org_id, audit_id, at, doer_kind, doer_id, ip, request_id, client, action,
          target_kind, target_id, before, after)
        select org_id, audit_id, at, doer_kind, doer_id, ip, request_id, client, action, target_kind, target_id,
          before::jsonb, after::jsonb
        from unnest(
          ${column(({ orgId }) => orgId)}::text[], ${column(({ auditId }) => auditId)}::text[],
          ${column(({ at }) => at.toISOString())}::timestamptz[], ${column(({ doer }) => doer.kind)}::text[],
          ${column(({ doer }) => doer.id)}::text[], ${column(({ doer }) => doer.ip)}::text[],
          ${column(({ doer }) => doer.requestId)}::text[], ${column(({ doer }) => doer.client ?? '')}::text[],
          ${column(({ action }) => action)}::text[],
          ${column(({ targetKind }) => targetKind)}::text[], ${column(({ targetId }) => targetId)}::text[],
          ${column(({ beforeJson }) => beforeJson)}::text[], ${column(({ afterJson }) => afterJson)}::text[]
        ) as act (org_id, audit_id, at, doer_kind, doer_id, ip, request_id, client, action, target_kind, target_id, before,
          after)
        on conflict on constraint audit_pkey do nothing`,
    );
  }

  /** Newest first. */
  async list(orgId: OrgId, filter: AuditFilter, { below, limit }: PageRequest): Promise<Page<AuditEntry>> {
    const { action, targetId, doerId, after, before } = filter;
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<AuditRow[]>`
          select org_id, audit_id, at, doer_kind, doer_id, registry.party_name(org_id, doer_id) as doer_name, ip,
            request_id, client, action, target_kind, target_id, before::text, after::text
          from registry.audit
          where org_id = ${orgId}
            ${below === null ? sql`` : sql`and audit_id < ${below}`}
            ${after === null ? sql`` : sql`and at >= ${after} and audit_id >= ${idNear(after, -CLOCKS_APART_MS)}`}
            ${before === null ? sql`` : sql`and at < ${before} and audit_id < ${idNear(before, CLOCKS_APART_MS)}`}
            ${action === '' ? sql`` : sql`and action = ${action}`}
            ${targetId === '' ? sql`` : sql`and target_id = ${targetId}`}
            ${doerId === '' ? sql`` : sql`and doer_id = ${doerId}`}
          order by audit_id desc
          limit ${limit + 1}`,
      ),
    );
    return pageOf(rows.map(toEntry), limit, ({ auditId }) => auditId);
  }
}

/** The index is by ids, so a time is looked for near its id. */
function idNear(time: Date, laterMs: number): AuditId {
  return idBound('aud', time.getTime() + laterMs);
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    orgId: row.org_id,
    auditId: row.audit_id,
    at: row.at,
    by: { kind: row.doer_kind, id: row.doer_id, name: row.doer_name ?? '' },
    ip: row.ip,
    requestId: row.request_id,
    client: row.client,
    action: row.action,
    targetKind: row.target_kind,
    targetId: row.target_id,
    beforeJson: row.before,
    afterJson: row.after,
  };
}

/** Adds a line of the audit log to the statement that it records: both are committed, or neither. */
interface AuditedAct {
  readonly doer: Doer;
  /** `<noun>.<verb>`, for example method.publish. */
  readonly action: string;
  readonly targetKind: TargetKind;
}

type Fragment = PendingQuery<Row[]>;

/**
 * Returns `insert into registry.audit … select … from <source>` for use in a `with`: one line for each row of `source`,
 * a CTE that has `org_id`. `targetId`, `before` and `after` are SQL expressions over that row; the latter two are jsonb
 * or null.
 */
export function auditRow(
  sql: Statements,
  { doer, action, targetKind }: AuditedAct,
  { source, targetId, before, after }: { source: string; targetId: Fragment; before: Fragment; after: Fragment },
): Fragment {
  return sql`insert into registry.audit
      (org_id, audit_id, doer_kind, doer_id, ip, request_id, client, action, target_kind, target_id, before, after)
    select org_id, ${newId('aud')}, ${doer.kind}, ${doer.id}, ${doer.ip}, ${doer.requestId}, ${doer.client ?? ''}, ${action},
      ${targetKind}, ${targetId}, ${before}, ${after}
    from ${sql(source)}`;
}
