// The columns methods and versions are read by, and what the rows mean; the two stores read them alike.
import type { PendingQuery, Row } from 'postgres';
import type { Method, SchemaVersion, Version } from '../method/method.ts';
import type { Database } from './query.ts';

export interface MethodRow {
  readonly org_id: string;
  readonly method_id: string;
  readonly display_name: string;
  readonly format: SchemaVersion;
  readonly current_version: string;
  readonly published_version: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly created_by: string;
}

export interface VersionRow {
  readonly method_id: string;
  readonly version_id: string;
  readonly schema_version: SchemaVersion;
  readonly sha256: Buffer;
  readonly reason: string;
  readonly features: string[];
  readonly secrets: string[];
  readonly calls_json: string;
  readonly version_created_at: Date;
  readonly version_created_by: string;
  readonly published_at: Date | null;
  readonly lock_sha256: Buffer | null;
}

type Fragment = PendingQuery<Row[]>;

/** Of `methods m` joined to its current version `c`. */
export function methodColumns(sql: Database): Fragment {
  return sql`m.org_id, m.method_id, m.display_name, c.schema_version as format, m.current_version, m.published_version,
    m.created_at, m.updated_at, m.created_by`;
}

export function methodTables(sql: Database): Fragment {
  return sql`registry.methods m
    join registry.versions c
      on c.org_id = m.org_id and c.method_id = m.method_id and c.version_id = m.current_version`;
}

/** Of `versions v` left joined to its lock `l`. */
export function versionColumns(sql: Database): Fragment {
  return sql`v.version_id, v.schema_version, v.sha256, v.reason, v.features, v.secrets, v.calls_json,
    v.created_at as version_created_at, v.created_by as version_created_by, l.sha256 as lock_sha256,
    (select max(p.published_at) from registry.publications p
      where p.org_id = v.org_id and p.method_id = v.method_id and p.version_id = v.version_id) as published_at`;
}

export function lockJoin(sql: Database): Fragment {
  return sql`left join registry.version_locks l
    on l.org_id = v.org_id and l.method_id = v.method_id and l.version_id = v.version_id`;
}

export function toMethod(row: MethodRow): Method {
  return {
    orgId: row.org_id,
    methodId: row.method_id,
    displayName: row.display_name,
    format: row.format,
    currentVersion: row.current_version,
    publishedVersion: row.published_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    createdBy: row.created_by,
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
    calls: JSON.parse(row.calls_json) as Record<string, string>,
    createdAt: row.version_created_at,
    createdBy: row.version_created_by,
    publishedAt: row.published_at,
    lockSha256: row.lock_sha256?.toString('hex') ?? null,
  };
}
