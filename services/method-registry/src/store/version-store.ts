// Versions in registry.versions: their exact bytes and their order. Locks are in registry.version_locks.
import { assert } from '@methods/base/assert';
import { type MethodId, newId, type OrgId, type VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { Method, Version, VersionContent } from '../method/method.ts';
import type { MethodSource } from '../method/method-source.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
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
import { Database, query, Reader, type Statements } from './registry-database.ts';

export interface NewVersion {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  /** The version that the author started from; null: the method had none. */
  readonly baseVersion: VersionId | null;
  readonly source: MethodSource;
  readonly reason: string;
  readonly doer: Doer;
}

export type VersionChoice =
  | { readonly kind: 'current' }
  | { readonly kind: 'published' }
  | { readonly kind: 'saved'; readonly versionId: VersionId };

export interface VersionLock {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly lock: Uint8Array;
}

/** All columns of the version are null when the chosen version does not exist. */
type ContentRow = MethodRow & { [Column in Exclude<keyof VersionRow, 'method_id'>]: VersionRow[Column] | null } & {
  readonly source: Buffer | null;
  readonly lock: Buffer | null;
};

@injectable()
export class VersionStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /**
   * Saves on `baseVersion`, which must be current: of any number of saves on one base, one succeeds. When the current
   * version already has these bytes it is returned with `created: false`, for any base. @throws ServiceError not_found,
   * or version_conflict with the fact `current_version`, empty if there is none.
   */
  async save(version: NewVersion): Promise<{ version: Version; created: boolean }> {
    const saved = await this.saveUpon(version);
    if (saved !== null) return { version: saved, created: true };
    const current = await this.current(version.orgId, version.methodId);
    if (current?.sha256 === version.source.sha256.toString('hex')) return { version: current, created: false };
    throw new ServiceError('version_conflict', undefined, { facts: { current_version: current?.versionId ?? '' } });
  }

  /** One compare-and-set: savers on the same base queue on the method's row, and all but the first find it changed. */
  private async saveUpon(version: NewVersion): Promise<Version | null> {
    const { orgId, methodId, baseVersion, source, reason, doer } = version;
    const { sql } = this;
    const [row] = await query(sql<VersionRow[]>`
      with moved as (
        update registry.methods m set current_version = ${newId('ver')}, updated_at = greatest(updated_at, now())
        where org_id = ${orgId} and method_id = ${methodId} and current_version is not distinct from ${baseVersion}
          and not exists (
            select 1 from registry.versions b
            where b.org_id = m.org_id and b.method_id = m.method_id and b.version_id = ${baseVersion}
              and b.sha256 = ${source.sha256}
          )
        returning org_id, method_id, current_version
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'version.save', targetKind: 'method' },
          {
            source: 'moved',
            targetId: sql`method_id`,
            before: sql`jsonb_build_object('current_version', ${baseVersion}::text)`,
            after: sql`jsonb_build_object('current_version', current_version)`,
          },
        )}
      )
      insert into registry.versions as v
        (org_id, method_id, version_id, base_version, schema_version, source, sha256, reason, features, secrets, calls_json, created_by)
      select org_id, method_id, current_version, ${baseVersion}::text, ${source.schemaVersion}, ${source.bytes}::bytea,
        ${source.sha256}::bytea, ${reason}, ${[...source.features]}::text[], ${[...source.secrets]}::text[],
        ${JSON.stringify(source.calls)}, ${doer.id}
      from moved
      returning v.method_id, v.version_id, v.schema_version, v.sha256, v.reason, v.features, v.secrets, v.calls_json,
        v.created_at as version_created_at, v.created_by as version_created_by,
        registry.party_name(v.org_id, v.created_by) as version_created_by_name,
        null::timestamptz as published_at, null::text as published_by, null::text as published_by_name,
        null::bytea as lock_sha256`);
    return row === undefined ? null : toVersion(row);
  }

  /** Null: the method has no version yet. */
  private async current(orgId: OrgId, methodId: MethodId): Promise<Version | null> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(VersionRow | { version_id: null })[]>`
          select m.method_id, ${versionColumns(sql)}
          from registry.methods m
          left join registry.versions v
            on v.org_id = m.org_id and v.method_id = m.method_id and v.version_id = m.current_version
          ${versionJoins(sql)}
          where m.org_id = ${orgId} and m.method_id = ${methodId}`,
      ),
    );
    if (row === undefined) throw noSuchMethod();
    return row.version_id === null ? null : toVersion(row);
  }

  /** Newest first. @throws ServiceError not_found. */
  async list(orgId: OrgId, methodId: MethodId, { below, limit }: PageRequest): Promise<Page<Version>> {
    const [methods, rows] = await query(
      this.reader.read(orgId, (sql) =>
        Promise.all([
          sql`select 1 from registry.methods where org_id = ${orgId} and method_id = ${methodId}`,
          sql<VersionRow[]>`
            select v.method_id, ${versionColumns(sql)}
            from registry.versions v
            ${versionJoins(sql)}
            where v.org_id = ${orgId} and v.method_id = ${methodId}
              ${below === null ? sql`` : sql`and v.version_id < ${below}`}
            order by v.version_id desc limit ${limit + 1}`,
        ]),
      ),
    );
    if (methods.length === 0) throw noSuchMethod();
    return pageOf(rows.map(toVersion), limit, ({ versionId }) => versionId);
  }

  /** @throws ServiceError not_found, or not_published. */
  async find(orgId: OrgId, methodId: MethodId, choice: VersionChoice): Promise<VersionContent & { method: Method }> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<ContentRow[]>`
          select ${methodColumns(sql)}, ${versionColumns(sql)}, v.source, l.lock
          from registry.methods m
          ${methodJoins(sql)}
          left join registry.versions v
            on v.org_id = m.org_id and v.method_id = m.method_id and v.version_id = ${chosen(sql, choice)}
          ${versionJoins(sql)}
          where m.org_id = ${orgId} and m.method_id = ${methodId}`,
      ),
    );
    if (row === undefined) throw noSuchMethod();
    if (!isSaved(row)) {
      throw choice.kind === 'published'
        ? new ServiceError('not_published')
        : new ServiceError('not_found', 'There is no such version.');
    }
    return { method: toMethod(row), version: toVersion(row), source: row.source, lock: row.lock };
  }

  /** The first lock stays. @throws ServiceError not_found. */
  async putLock(lock: VersionLock): Promise<{ lockSha256: string; stored: boolean }> {
    const { orgId, methodId, versionId } = lock;
    const [stored] = await query(
      this.sql<{ sha256: Buffer }[]>`
        insert into registry.version_locks (org_id, method_id, version_id, lock, sha256)
        values (${orgId}, ${methodId}, ${versionId}, ${lock.lock}::bytea, sha256(${lock.lock}::bytea))
        on conflict on constraint version_locks_pkey do nothing
        returning sha256`,
      { version_locks_version_fkey: () => new ServiceError('not_found', 'There is no such version.') },
    );
    if (stored !== undefined) return { lockSha256: stored.sha256.toString('hex'), stored: true };
    const [first] = await query(this.sql<{ sha256: Buffer }[]>`
      select sha256 from registry.version_locks
      where org_id = ${orgId} and method_id = ${methodId} and version_id = ${versionId}`);
    assert(first !== undefined, 'a lock that was in the way is there');
    return { lockSha256: first.sha256.toString('hex'), stored: false };
  }
}

function chosen(sql: Statements, choice: VersionChoice) {
  switch (choice.kind) {
    case 'current':
      return sql`m.current_version`;
    case 'published':
      return sql`m.published_version`;
    case 'saved':
      return sql`${choice.versionId}`;
  }
}

function noSuchMethod(): ServiceError {
  return new ServiceError('not_found', 'There is no such method.');
}

function isSaved(row: ContentRow): row is ContentRow & VersionRow & { source: Buffer } {
  return row.version_id !== null;
}
