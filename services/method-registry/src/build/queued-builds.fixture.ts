// A registry's database without a registry, which would claim the builds of the tests, and builds queued in it.
import 'reflect-metadata/lite';
import { randomBytes } from 'node:crypto';
import { type MethodId, newId, newMethodId, type OrgId } from '@methods/base/ids';
import { openPool } from '@methods/postgres/pool';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import type { ClaimTerms } from '../store/claim-build.ts';
import type { Database } from '../store/registry-database.ts';

/** A process with all its places free. */
export const FREE: ClaimTerms = { leaseMs: 60_000, takeLarge: true, noneOf: [], noLargeOf: [] };

export interface BuildDatabase {
  readonly sql: Database;
  newOrganization(): Promise<OrgId>;
  /** Queues methods whose recordings are one byte that is not stored, due one after the other. */
  queue(orgId: OrgId, count: number, options?: { readonly isLarge?: boolean }): Promise<MethodId[]>;
  drop(): Promise<void>;
}

export async function buildDatabase(): Promise<BuildDatabase> {
  const database = await migratedDatabase('method-registry');
  const sql = openPool({ url: database.url, applicationName: 'test', max: 8, statementTimeoutMs: 30_000 });
  return {
    sql,
    async newOrganization() {
      const orgId = newId('org');
      await sql`
        insert into registry.organizations (org_id, issuer, external_id, name)
        values (${orgId}, 'i', ${randomBytes(8).toString('hex')}, 'n')`;
      return orgId;
    },
    async queue(orgId, count, { isLarge = false } = {}) {
      const methodIds = Array.from({ length: count }, () => newMethodId());
      const uploadIds = methodIds.map(() => newId('upl'));
      await sql`
        with row as (
          select method_id, upload_id, i
          from unnest(${methodIds}::text[], ${uploadIds}::text[]) with ordinality as r (method_id, upload_id, i)
        ), method as (
          insert into registry.methods (org_id, method_id, display_name, created_by, created_at, updated_at)
          select ${orgId}, method_id, 'n', 'test', now() - interval '1 hour', now() - interval '1 hour' from row
        ), upload as (
          insert into registry.uploads (org_id, upload_id, token_sha256, display_name, file_name, content_type,
            size_bytes, offset_bytes, blob_id, method_id, created_by, expires_at)
          select ${orgId}, upload_id, sha256(upload_id::bytea), '', 'a.har', 'a/b', 1, 1, upload_id, method_id, 'test', now()
          from row
        )
        insert into registry.builds (org_id, method_id, upload_id, is_large, due_at)
        select ${orgId}, method_id, upload_id, ${isLarge}, now() - interval '1 minute' + i * interval '1 ms' from row`;
      return methodIds;
    },
    async drop() {
      await sql.end({ timeout: 1 });
      await database.drop();
    },
  };
}
