// The columns that methods and versions are read from, and the meaning of the rows, for all stores.
import type { MethodId, OrgId, ProductionId, VersionId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import { party } from '../audit/audit-entry.ts';
import type { Build, Method, SchemaVersion, Version } from '../method/method.ts';
import type { Statements } from './registry-database.ts';

export interface MethodRow {
  readonly org_id: OrgId;
  readonly method_id: MethodId;
  readonly display_name: string;
  readonly format: SchemaVersion;
  readonly current_version: VersionId | null;
  readonly published_version: VersionId | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: string;
  readonly created_by_name: string | null;
  readonly has_agent_prompt: boolean;
  readonly build_state: Build['state'] | null;
  readonly build_attempts: number | null;
  readonly build_error: string | null;
  readonly is_offered: boolean;
}

export interface VersionRow {
  readonly method_id: MethodId;
  readonly version_id: VersionId;
  readonly schema_version: SchemaVersion;
  readonly sha256: Buffer;
  readonly reason: string;
  readonly features: string[];
  readonly secrets: string[];
  readonly calls_json: string;
  readonly version_created_at: Date;
  readonly version_created_by: string;
  readonly version_created_by_name: string | null;
  readonly published_at: Date | null;
  readonly published_by: string | null;
  readonly published_by_name: string | null;
  readonly lock_sha256: Buffer | null;
}

type Fragment = PendingQuery<Row[]>;

/** For `methods m` with `methodJoins`. */
export function methodColumns(sql: Statements): Fragment {
  return sql`m.org_id, m.method_id, m.display_name, coalesce(c.schema_version, 'method/2') as format, m.current_version,
    m.published_version, m.created_at, m.updated_at, m.created_by,
    registry.party_name(m.org_id, m.created_by) as created_by_name, m.agent_prompt is not null as has_agent_prompt,
    b.state as build_state, b.attempts as build_attempts, b.error as build_error,
    o.place is not null as is_offered`;
}

/**
 * The current version `c`, the build `b` and the offer `o` of `methods m`. The joins are lateral, so that each is an
 * index look-up even without statistics: with stale ones Postgres reads all versions of the organization for one page.
 */
export function methodJoins(sql: Statements): Fragment {
  return sql`left join lateral (
      select schema_version from registry.versions
      where org_id = m.org_id and method_id = m.method_id and version_id = m.current_version limit 1
    ) c on true
    left join lateral (
      select state, attempts, error from registry.builds
      where org_id = m.org_id and method_id = m.method_id limit 1
    ) b on true
    left join lateral (
      select place from registry.offers where org_id = m.org_id and method_id = m.method_id limit 1
    ) o on true`;
}

/** For `versions v` with `versionJoins`. */
export function versionColumns(sql: Statements): Fragment {
  return sql`v.version_id, v.schema_version, v.sha256, v.reason, v.features, v.secrets, v.calls_json,
    v.created_at as version_created_at, v.created_by as version_created_by,
    registry.party_name(v.org_id, v.created_by) as version_created_by_name, l.sha256 as lock_sha256,
    p.published_at, p.published_by, registry.party_name(v.org_id, p.published_by) as published_by_name`;
}

/** The lock `l` and the last publication `p` of `versions v`. */
export function versionJoins(sql: Statements): Fragment {
  return sql`left join registry.version_locks l
      on l.org_id = v.org_id and l.method_id = v.method_id and l.version_id = v.version_id
    left join lateral (
      select published_at, published_by from registry.publications
      where org_id = v.org_id and method_id = v.method_id and version_id = v.version_id
      order by published_at desc, publication_id desc limit 1
    ) p on true`;
}

export function toMethod(row: MethodRow): Method {
  const { build_state: state, build_attempts: attempts, build_error: error } = row;
  return {
    orgId: row.org_id,
    methodId: row.method_id,
    displayName: row.display_name,
    format: row.format,
    currentVersion: row.current_version,
    publishedVersion: row.published_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: party(row.created_by, row.created_by_name),
    hasAgentPrompt: row.has_agent_prompt,
    build: state === null ? null : { state, attempts: attempts ?? 0, error: error ?? '' },
    isOffered: row.is_offered,
  };
}

export function toVersion(row: VersionRow): Version {
  return {
    methodId: row.method_id,
    versionId: row.version_id,
    schemaVersion: row.schema_version,
    sha256: row.sha256.toString('hex'),
    reason: row.reason,
    features: row.features,
    secrets: row.secrets,
    calls: JSON.parse(row.calls_json) as Record<ProductionId, VersionId>,
    createdAt: row.version_created_at,
    createdBy: party(row.version_created_by, row.version_created_by_name),
    publishedAt: row.published_at,
    publishedBy: row.published_by === null ? null : party(row.published_by, row.published_by_name),
    lockSha256: row.lock_sha256?.toString('hex') ?? null,
  };
}
