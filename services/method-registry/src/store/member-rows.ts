// The columns that a member is read from, and the meaning of the row.

import type { Role } from '@methods/auth/caller';
import type { OrgId, UserId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import type { Member } from '../account/member.ts';
import type { Statements } from './registry-database.ts';

export interface MemberRow {
  readonly org_id: OrgId;
  readonly org_name: string;
  readonly user_id: UserId;
  readonly role: Role;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly disabled_at: Date | null;
}

/** For `users u` joined to its `organizations o`. */
export function memberColumns(sql: Statements): PendingQuery<Row[]> {
  return sql`u.org_id, o.name as org_name, u.user_id, coalesce(u.given_role, u.first_role) as role, u.email,
    u.email_verified, u.name, u.created_at, u.last_seen_at, u.disabled_at`;
}

export function toMember(row: MemberRow): Member {
  return {
    orgId: row.org_id,
    orgName: row.org_name,
    userId: row.user_id,
    role: row.role,
    email: row.email,
    emailVerified: row.email_verified,
    name: row.name,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    disabledAt: row.disabled_at,
  };
}
