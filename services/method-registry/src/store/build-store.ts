// Builds in registry.builds: durable jobs, each with one effect for any number of attempts.
import { type MethodId, newId, type OrgId, randomToken, type UploadId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { MethodSource } from '../method/method-source.ts';
import { auditRow } from './audit-store.ts';
import { type ClaimTerms, claimBuild, moveMethods } from './claim-build.ts';
import { Database, query } from './registry-database.ts';

/**
 * An attempt in progress. The holder of its token may end it, until the lease has expired and another attempt has
 * begun.
 */
export interface ClaimedBuild {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly uploadId: UploadId;
  readonly token: string;
  readonly isLarge: boolean;
  /** Tries that ended without a result, since their process died. */
  readonly triesBefore: number;
}

const BUILDER: Doer = { kind: 'system', id: 'build', ip: '', requestId: '' };

@injectable()
export class BuildStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  /**
   * Returns a queued build, or one whose lease expired; null: there is none. Chooses the organization with the fewest
   * builds in progress, then the one served longest ago. Each build is returned to one caller.
   */
  async claim(terms: ClaimTerms): Promise<ClaimedBuild | null> {
    const token = randomToken();
    const [row] = await query(claimBuild(this.sql, token, terms));
    if (row === undefined) return null;
    return {
      orgId: row.org_id,
      methodId: row.method_id,
      uploadId: row.upload_id,
      token,
      isLarge: row.is_large,
      triesBefore: row.tries_before,
    };
  }

  /** The lease lasts this long from now. Nothing changes if another attempt has begun, or this one has ended. */
  async renew({ orgId, methodId, token }: ClaimedBuild, leaseMs: number): Promise<void> {
    await query(this.sql`
      update registry.builds set due_at = now() + ${leaseMs} * interval '1 ms'
      where org_id = ${orgId} and method_id = ${methodId} and token = ${token}`);
  }

  /**
   * Saves the draft as the method's first version. A version saved meanwhile stays, and the draft is dropped. Returns
   * false, and changes nothing, if another attempt has begun.
   */
  async succeed({ orgId, methodId, token }: ClaimedBuild, draft: MethodSource, reason: string): Promise<boolean> {
    const { sql } = this;
    const versionId = newId('ver');
    const ended = await query(sql`
      with ended as (
        update registry.builds set state = 'succeeded', token = null, due_at = null
        where org_id = ${orgId} and method_id = ${methodId} and token = ${token}
        returning org_id, method_id
      ), moved as (
        update registry.methods m set current_version = coalesce(m.current_version, ${versionId}),
          updated_at = greatest(updated_at, now())
        from ended e
        where m.org_id = e.org_id and m.method_id = e.method_id
        returning m.org_id, m.method_id, m.current_version = ${versionId} as is_draft
      ), draft as (
        insert into registry.versions
          (org_id, method_id, version_id, schema_version, source, sha256, reason, features, secrets, calls_json, created_by)
        select org_id, method_id, ${versionId}, ${draft.schemaVersion}, ${draft.bytes}::bytea,
          ${draft.sha256}::bytea, ${reason}, ${[...draft.features]}::text[], ${[...draft.secrets]}::text[],
          ${JSON.stringify(draft.calls)}, ${BUILDER.id}
        from moved where is_draft
      ), outcome as (
        select org_id, method_id, case when is_draft then ${versionId}::text end as current_version from moved
      ), audited as (
        ${auditRow(
          sql,
          { doer: BUILDER, action: 'method.build', targetKind: 'method' },
          {
            source: 'outcome',
            targetId: sql`method_id`,
            before: sql`null`,
            after: sql`jsonb_strip_nulls(jsonb_build_object('build', 'succeeded', 'current_version', current_version))`,
          },
        )}
      )
      select method_id from ended`);
    return ended.length > 0;
  }

  /** `error`: a sentence for people. Returns false, and changes nothing, if another attempt has begun. */
  async fail({ orgId, methodId, token }: ClaimedBuild, error: string): Promise<boolean> {
    const { sql } = this;
    const ended = await query(sql`
      with ended as (
        update registry.builds set state = 'failed', error = ${error}, token = null, due_at = null
        where org_id = ${orgId} and method_id = ${methodId} and token = ${token}
        returning org_id, method_id
      ), moved as (
        ${moveMethods(sql, 'ended')}
      ), audited as (
        ${auditRow(
          sql,
          { doer: BUILDER, action: 'method.build', targetKind: 'method' },
          {
            source: 'ended',
            targetId: sql`method_id`,
            before: sql`null`,
            after: sql`jsonb_build_object('build', 'failed')`,
          },
        )}
      )
      select method_id from ended`);
    return ended.length > 0;
  }

  /** Gives the build back as if it had never begun. */
  async release({ orgId, methodId, token }: ClaimedBuild): Promise<void> {
    const { sql } = this;
    await query(sql`
      with released as (
        update registry.builds set state = 'queued', attempts = greatest(attempts - 1, 0), token = null, due_at = now()
        where org_id = ${orgId} and method_id = ${methodId} and token = ${token}
        returning org_id, method_id
      )
      ${moveMethods(sql, 'released')}`);
  }

  /** @throws ServiceError not_found, not_failed. */
  async retry(orgId: OrgId, methodId: MethodId, doer: Doer): Promise<void> {
    const { sql } = this;
    const [found] = await query(sql<{ queued: boolean }[]>`
      with queued as (
        update registry.builds set state = 'queued', attempts = 0, error = '', due_at = now()
        where org_id = ${orgId} and method_id = ${methodId} and state = 'failed'
        returning org_id, method_id
      ), moved as (
        ${moveMethods(sql, 'queued')}
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'method.retry', targetKind: 'method' },
          {
            source: 'queued',
            targetId: sql`method_id`,
            before: sql`jsonb_build_object('build', 'failed')`,
            after: sql`jsonb_build_object('build', 'queued')`,
          },
        )}
      )
      select exists (select 1 from queued) as queued from registry.methods
      where org_id = ${orgId} and method_id = ${methodId}`);
    if (found === undefined) throw new ServiceError('not_found', 'There is no such method.');
    if (!found.queued) throw new ServiceError('not_failed');
  }
}
