// Builds in registry.builds.
import { newId, randomToken } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import { auditRow } from '../audit/audit-row.ts';
import type { Doer } from '../audit/doer.ts';
import type { MethodSource } from '../method/method-source.ts';
import { BUILD_TRIES_MAX, type BuildStore, type ClaimedBuild } from './build-store.ts';
import { Database, query } from './query.ts';

const BUILDER: Doer = { kind: 'system', id: 'build', ip: '', requestId: '' };

@injectable()
export class PostgresBuildStore implements BuildStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  async claim(leaseMs: number): Promise<ClaimedBuild | null> {
    const { sql } = this;
    const token = randomToken();
    const [row] = await query(sql<{ org_id: string; method_id: string; upload_id: string; tries_before: number }[]>`
      with due as (
        select org_id, method_id, attempts from registry.builds
        where due_at <= now()
        order by due_at limit 1
        for update skip locked
      )
      update registry.builds b set state = 'running', attempts = least(b.attempts + 1, ${BUILD_TRIES_MAX}), token = ${token},
        due_at = now() + ${leaseMs} * interval '1 ms'
      from due where b.org_id = due.org_id and b.method_id = due.method_id
      returning b.org_id, b.method_id, b.upload_id, due.attempts as tries_before`);
    if (row === undefined) return null;
    return {
      orgId: row.org_id,
      methodId: row.method_id,
      uploadId: row.upload_id,
      token,
      triesBefore: row.tries_before,
    };
  }

  async renew({ orgId, methodId, token }: ClaimedBuild, leaseMs: number): Promise<void> {
    await query(this.sql`
      update registry.builds set due_at = now() + ${leaseMs} * interval '1 ms'
      where org_id = ${orgId} and method_id = ${methodId} and token = ${token}`);
  }

  async succeed({ orgId, methodId, token }: ClaimedBuild, draft: MethodSource, reason: string): Promise<boolean> {
    const { sql } = this;
    const ended = await query(sql`
      with ended as (
        update registry.builds set state = 'succeeded', token = null, due_at = null
        where org_id = ${orgId} and method_id = ${methodId} and token = ${token}
        returning org_id, method_id
      ), moved as (
        update registry.methods m set current_version = ${newId('ver')}, updated_at = greatest(updated_at, now())
        from ended e
        where m.org_id = e.org_id and m.method_id = e.method_id and m.current_version is null
        returning m.org_id, m.method_id, m.current_version
      ), draft as (
        insert into registry.versions
          (org_id, method_id, version_id, schema_version, source, sha256, reason, features, secrets, calls_json, created_by)
        select org_id, method_id, current_version, ${draft.schemaVersion}, ${draft.bytes}::bytea,
          ${draft.sha256}::bytea, ${reason}, ${[...draft.features]}::text[], ${[...draft.secrets]}::text[],
          ${JSON.stringify(draft.calls)}, ${BUILDER.id}
        from moved
      ), outcome as (
        select e.org_id, e.method_id, m.current_version from ended e left join moved m using (org_id, method_id)
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

  async fail({ orgId, methodId, token }: ClaimedBuild, error: string): Promise<boolean> {
    const { sql } = this;
    const ended = await query(sql`
      with ended as (
        update registry.builds set state = 'failed', error = ${error}, token = null, due_at = null
        where org_id = ${orgId} and method_id = ${methodId} and token = ${token}
        returning org_id, method_id
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

  async release({ orgId, methodId, token }: ClaimedBuild): Promise<void> {
    await query(this.sql`
      update registry.builds set state = 'queued', attempts = greatest(attempts - 1, 0), token = null, due_at = now()
      where org_id = ${orgId} and method_id = ${methodId} and token = ${token}`);
  }

  async retry(orgId: string, methodId: string, doer: Doer): Promise<void> {
    const { sql } = this;
    const [found] = await query(sql<{ queued: boolean }[]>`
      with queued as (
        update registry.builds set state = 'queued', attempts = 0, error = '', due_at = now()
        where org_id = ${orgId} and method_id = ${methodId} and state = 'failed'
        returning org_id, method_id
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
