// Methods in registry.methods, creation_requests and publications. Each change is one statement, so that it is whole
// or not at all without a transaction held open over the network.
import { assert } from '@methods/base/assert';
import { newId, newMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Method } from '../method/method.ts';
import {
  lockJoin,
  type MethodRow,
  methodColumns,
  methodTables,
  toMethod,
  toVersion,
  type VersionRow,
  versionColumns,
} from './method-rows.ts';
import type { CreatedMethod, MethodStore, NewMethod, Publication } from './method-store.ts';
import { Database, query } from './query.ts';

@injectable()
export class PostgresMethodStore implements MethodStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  async findByRequest(orgId: string, idempotencyHash: Uint8Array): Promise<CreatedMethod | null> {
    const { sql } = this;
    const [row] = await query(sql<(MethodRow & VersionRow)[]>`
      select ${methodColumns(sql)}, ${versionColumns(sql)}
      from registry.creation_requests r
      join (${methodTables(sql)}) on m.org_id = r.org_id and m.method_id = r.method_id
      join registry.versions v
        on v.org_id = r.org_id and v.method_id = r.method_id and v.version_id = r.version_id
      ${lockJoin(sql)}
      where r.org_id = ${orgId} and r.idempotency_hash = ${idempotencyHash}`);
    return row === undefined ? null : { method: toMethod(row), version: toVersion(row) };
  }

  async create(method: NewMethod): Promise<CreatedMethod & { created: boolean }> {
    const { orgId, idempotencyHash, displayName, source, createdBy } = method;
    // A concurrent creation with the same key waits here on the request's row, then makes nothing.
    const made = await query(
      this.sql`
        with request as (
          insert into registry.creation_requests (org_id, idempotency_hash, method_id, version_id)
          values (${orgId}, ${idempotencyHash}, ${newMethodId()}, ${newId('ver')})
          on conflict on constraint creation_requests_pkey do nothing
          returning org_id, method_id, version_id
        ), method as (
          insert into registry.methods (org_id, method_id, display_name, current_version, created_by)
          select org_id, method_id, ${displayName}, version_id, ${createdBy} from request
        )
        insert into registry.versions
          (org_id, method_id, version_id, schema_version, source, sha256, reason, features, secrets, calls_json, created_by)
        select org_id, method_id, version_id, ${source.schemaVersion}, ${source.bytes}::bytea, ${source.sha256}::bytea, '',
          ${[...source.features]}::text[], ${[...source.secrets]}::text[], ${JSON.stringify(source.calls)}, ${createdBy}
        from request
        returning method_id`,
      { methods_org_fkey: () => new ServiceError('not_found', 'There is no such organization.') },
    );
    const kept = await this.findByRequest(orgId, idempotencyHash);
    assert(kept !== null, 'what a creation key made is there');
    return { ...kept, created: made.length > 0 };
  }

  async find(orgId: string, methodId: string): Promise<Method> {
    const { sql } = this;
    const [row] = await query(sql<MethodRow[]>`
      select ${methodColumns(sql)} from ${methodTables(sql)}
      where m.org_id = ${orgId} and m.method_id = ${methodId}`);
    if (row === undefined) throw new ServiceError('not_found', 'There is no such method.');
    return toMethod(row);
  }

  async publish({ orgId, methodId, versionId, publishedBy }: Publication): Promise<Method> {
    const noSuchVersion = () => new ServiceError('not_found', 'There is no such version.');
    await query(
      this.sql`
        with published as (
          update registry.methods set published_version = ${versionId}, updated_at = greatest(updated_at, now())
          where org_id = ${orgId} and method_id = ${methodId} and published_version is distinct from ${versionId}
          returning org_id, method_id, published_version
        )
        insert into registry.publications (org_id, method_id, version_id, published_by)
        select org_id, method_id, published_version, ${publishedBy} from published`,
      { methods_published_fkey: noSuchVersion, publications_version_fkey: noSuchVersion },
    );
    return await this.find(orgId, methodId);
  }
}
