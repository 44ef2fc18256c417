// One line of the audit log as part of the statement it records: both are committed, or neither.
import { newId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import type { TargetKind } from '../audit/audit-entry.ts';
import type { Doer } from '../audit/doer.ts';
import type { Statements } from './query.ts';

export interface AuditedAct {
  readonly doer: Doer;
  /** `<noun>.<verb>`, for example method.publish. */
  readonly action: string;
  readonly targetKind: TargetKind;
}

type Fragment = PendingQuery<Row[]>;

/**
 * `insert into registry.audit … select … from <source>` for use in a `with`: one line for each row of `source`, a CTE
 * that has `org_id`. `targetId`, `before` and `after` are SQL expressions over that row; the latter two jsonb or null.
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
