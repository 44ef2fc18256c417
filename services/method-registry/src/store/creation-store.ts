// Creation keys in registry.creation_requests. A key belongs to one route permanently: it created a method, or an
// upload that creates one later. Each creation is one statement, and so all or nothing without a transaction held open
// over the network.
import { assert } from '@methods/base/assert';
import { type MethodId, newId, newMethodId, type OrgId, type UploadId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { Method, Version } from '../method/method.ts';
import type { MethodSource } from '../method/method-source.ts';
import { auditRow } from './audit-store.ts';
import {
  type MethodRow,
  methodColumns,
  methodJoins,
  toMethod,
  toVersion,
  type VersionRow,
  versionColumns,
  versionJoins,
} from './method-rows.ts';
import { Database, query, Reader } from './registry-database.ts';

export interface NewMethod {
  readonly orgId: OrgId;
  /** SHA-256 of the creation key. */
  readonly idempotencyHash: Uint8Array;
  readonly displayName: string;
  /** At least one of source and prompt is set. */
  readonly source: MethodSource | null;
  /** Empty: none. */
  readonly agentPrompt: string;
  readonly doer: Doer;
}

/** A method with the version that it was created with, which may no longer be current. */
export interface CreatedMethod {
  readonly method: Method;
  /** Null: it was created without a source. */
  readonly version: Version | null;
}

export type Creation =
  | ({ readonly kind: 'method' } & CreatedMethod)
  /** `method` is null while the upload waits for bytes. */
  | { readonly kind: 'upload'; readonly uploadId: UploadId; readonly method: Method | null };

type Nullable<Columns> = { [Column in keyof Columns]: Columns[Column] | null };
type CreationRow = Nullable<MethodRow & VersionRow> & { readonly upload_id: UploadId | null };

@injectable()
export class CreationStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** Null if the key has created nothing yet. */
  async find(orgId: OrgId, idempotencyHash: Uint8Array): Promise<Creation | null> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<CreationRow[]>`
          select r.upload_id, ${methodColumns(sql)}, ${versionColumns(sql)}
          from registry.creation_requests r
          left join registry.uploads u on u.org_id = r.org_id and u.upload_id = r.upload_id
          -- An array, since row-level security lets no index look for what coalesce gives.
          left join lateral (
            select org_id, method_id, display_name, current_version, published_version, created_at, updated_at, created_by,
              agent_prompt
            from registry.methods
            where org_id = r.org_id and method_id = any(array[r.method_id, u.method_id]) limit 1
          ) m on true
          ${methodJoins(sql)}
          left join registry.versions v
            on v.org_id = r.org_id and v.method_id = r.method_id and v.version_id = r.version_id
          ${versionJoins(sql)}
          where r.org_id = ${orgId} and r.idempotency_hash = ${idempotencyHash}`,
      ),
    );
    if (row === undefined) return null;
    const method = row.method_id === null ? null : toMethod(row as MethodRow);
    if (row.upload_id !== null) return { kind: 'upload', uploadId: row.upload_id, method };
    assert(method !== null, 'a creation key that made no upload made a method');
    return { kind: 'method', method, version: row.version_id === null ? null : toVersion(row as VersionRow) };
  }

  /**
   * Concurrent creations with one key create one method, and all get it.
   * @throws ServiceError not_found, or idempotency_conflict for an upload's key.
   */
  async create(method: NewMethod): Promise<CreatedMethod & { created: boolean }> {
    const { orgId, idempotencyHash, displayName, source, agentPrompt, doer } = method;
    const { sql } = this;
    const versionId = source === null ? null : newId('ver');
    // A concurrent creation with the same key waits here on the request's row, then creates nothing.
    const made = await query(
      sql`
        with request as (
          insert into registry.creation_requests (org_id, idempotency_hash, method_id, version_id)
          values (${orgId}, ${idempotencyHash}, ${newMethodId()}, ${versionId})
          on conflict on constraint creation_requests_pkey do nothing
          returning org_id, method_id, version_id
        ), method as (
          insert into registry.methods (org_id, method_id, display_name, current_version, agent_prompt, created_by)
          select org_id, method_id, ${displayName}, version_id, nullif(${agentPrompt}, ''), ${doer.id} from request
        ), version as (
          insert into registry.versions
            (org_id, method_id, version_id, schema_version, source, sha256, reason, features, secrets, calls_json, created_by)
          select org_id, method_id, version_id, ${source?.schemaVersion ?? null}, ${source?.bytes ?? null}::bytea,
            ${source?.sha256 ?? null}::bytea, '', ${[...(source?.features ?? [])]}::text[],
            ${[...(source?.secrets ?? [])]}::text[], ${JSON.stringify(source?.calls ?? {})}, ${doer.id}
          from request where version_id is not null
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'method.create', targetKind: 'method' },
            {
              source: 'request',
              targetId: sql`method_id`,
              before: sql`null`,
              after: sql`jsonb_strip_nulls(jsonb_build_object(
                'display_name', ${displayName}::text, 'version_id', version_id,
                'agent_prompt_bytes', nullif(octet_length(${agentPrompt}), 0)))`,
            },
          )}
        )
        select method_id from request`,
      { methods_org_fkey: noSuchOrganization, audit_org_fkey: noSuchOrganization },
    );
    const kept = await this.find(orgId, idempotencyHash);
    assert(kept !== null, 'what a creation key made is there');
    if (kept.kind === 'upload') throw keyOfUpload();
    return { method: kept.method, version: kept.version, created: made.length > 0 };
  }

  /**
   * Assigns a creation key to an existing method. A key that another creation took meanwhile stays with that creation.
   * @throws ServiceError not_found.
   */
  async addKey(orgId: OrgId, idempotencyHash: Uint8Array, methodId: MethodId): Promise<void> {
    await query(
      this.sql`
        insert into registry.creation_requests (org_id, idempotency_hash, method_id)
        values (${orgId}, ${idempotencyHash}, ${methodId})
        on conflict on constraint creation_requests_pkey do nothing`,
      { creation_requests_method_fkey: () => new ServiceError('not_found', 'There is no such method.') },
    );
  }
}

/** The refusal of a creation key that belongs to an upload, in every request. */
export function keyOfUpload(): ServiceError {
  return new ServiceError('idempotency_conflict', 'This key belongs to an upload.');
}

function noSuchOrganization(): ServiceError {
  return new ServiceError('not_found', 'There is no such organization.');
}
