// The columns that a service key is read from, and the meaning of the row.
import type { KeyId, OrgId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import { party } from '../audit/audit-entry.ts';
import type { ServiceKey } from '../key/service-key.ts';
import type { Statements } from './registry-database.ts';

export interface KeyRow {
  readonly org_id: OrgId;
  readonly key_id: KeyId;
  readonly name: string;
  readonly created_at: Date;
  readonly created_by: string;
  readonly created_by_name: string | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
}

/** For `service_keys k`. */
export function keyColumns(sql: Statements): PendingQuery<Row[]> {
  return sql`k.org_id, k.key_id, k.name, k.created_at, k.created_by,
    registry.party_name(k.org_id, k.created_by) as created_by_name, k.revoked_at, k.last_used_at`;
}

export function toServiceKey(row: KeyRow): ServiceKey {
  return {
    orgId: row.org_id,
    keyId: row.key_id,
    name: row.name,
    createdAt: row.created_at,
    createdBy: party(row.created_by, row.created_by_name),
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
