// Service keys in registry.service_keys. A change of a key and its audit line are one statement. Keys and webhook
// secrets never arrive here in clear text.
import { isId, type KeyId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import type { ContentGrant, KeyUse, ServiceKey } from '../key/service-key.ts';
import { type Page, type PageRequest, pageOf } from '../page/page.ts';
import { auditRow } from './audit-store.ts';
import { type KeyRow, keyColumns, toServiceKey } from './key-rows.ts';
import { Database, query, Reader } from './registry-database.ts';

export interface NewServiceKey {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly name: string;
  readonly authSha256: Uint8Array;
  readonly sealedWebhookSecret: Buffer;
  readonly doer: Doer;
}

export interface MadeServiceKey {
  readonly key: ServiceKey;
  readonly sealedWebhookSecret: Buffer;
  /** False for a repeat. */
  readonly created: boolean;
}

export interface KeyAct {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly doer: Doer;
}

interface GrantsRow {
  readonly from_key_ids: readonly KeyId[] | null;
  /** In hex. */
  readonly wrapped: readonly string[] | null;
}

const LIVE_KEYS_MAX = 500;
/** A worker asks for the queues of each key that it can open. */
const GRANTS_MAX = 20;

@injectable()
export class KeyStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /**
   * A repeat returns the key as created: it has the same digest and name, by the same doer, of a key that is not
   * revoked.
   * @throws ServiceError not_found without the organization, idempotency_conflict when the digest is in use otherwise,
   * invalid_request at 500 live keys.
   */
  async create(key: NewServiceKey): Promise<MadeServiceKey> {
    const { sql } = this;
    const { orgId, keyId, name, authSha256, sealedWebhookSecret, doer } = key;
    const [row] = await query(sql<({ room: boolean } & (KeyRow | { key_id: null }))[]>`
      with space as (
        select count(*) < ${LIVE_KEYS_MAX} as room from registry.service_keys
        where org_id = ${orgId} and revoked_at is null
      ), made as (
        insert into registry.service_keys (org_id, key_id, name, auth_sha256, sealed_webhook_secret, created_by)
        select ${orgId}, ${keyId}, ${name}, ${authSha256}::bytea, ${sealedWebhookSecret}::bytea, ${doer.id}
        from space where room
        on conflict on constraint service_keys_auth_key do nothing
        returning *
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'key.create', targetKind: 'key' },
          {
            source: 'made',
            targetId: sql`key_id`,
            before: sql`null`,
            after: sql`jsonb_build_object('name', name)`,
          },
        )}
      )
      select room, ${keyColumns(sql)} from space left join made k on true`);
    if (row !== undefined && row.key_id !== null) {
      return { key: toServiceKey(row), sealedWebhookSecret, created: true };
    }
    const made = await this.madeBefore(key);
    if (made !== null) return made;
    if (row?.room) throw new ServiceError('idempotency_conflict', 'This service key exists already.');
    throw new ServiceError('invalid_request', `An organization holds at most ${LIVE_KEYS_MAX} live service keys.`, {
      findings: [{ path: '', code: 'live_keys', message: 'Revoke one first.' }],
    });
  }

  /** Returns the key that the same request created before: its reply may have been lost. */
  private async madeBefore({ orgId, name, authSha256, doer }: NewServiceKey): Promise<MadeServiceKey | null> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<(KeyRow & { sealed_webhook_secret: Buffer })[]>`
          select ${keyColumns(sql)}, k.sealed_webhook_secret from registry.service_keys k
          where k.org_id = ${orgId} and k.auth_sha256 = ${authSha256}::bytea and k.name = ${name}
            and k.created_by = ${doer.id} and k.revoked_at is null`,
      ),
    );
    if (row === undefined) return null;
    return { key: toServiceKey(row), sealedWebhookSecret: row.sealed_webhook_secret, created: false };
  }

  /** Live keys first, newest first. */
  async list(orgId: OrgId, { below, limit }: PageRequest): Promise<Page<ServiceKey>> {
    const [live, keyId = ''] = below?.split('.') ?? [];
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<KeyRow[]>`
          select ${keyColumns(sql)} from registry.service_keys k
          where k.org_id = ${orgId}
            ${below === null ? sql`` : sql`and (k.revoked_at is null, k.key_id) < (${live === 'live'}, ${keyId})`}
          order by k.revoked_at is null desc, k.key_id desc
          limit ${limit + 1}`,
      ),
    );
    return pageOf(rows.map(toServiceKey), limit, keyPlace);
  }

  /** A repeat changes nothing. @throws ServiceError not_found. */
  async revoke({ orgId, keyId, doer }: KeyAct): Promise<{ key: ServiceKey; authSha256: Buffer }> {
    const { sql } = this;
    const [row] = await query(sql<(KeyRow & { auth_sha256: Buffer })[]>`
      with before as (
        select org_id, key_id, revoked_at from registry.service_keys
        where org_id = ${orgId} and key_id = ${keyId}
        for update
      ), revoked as (
        update registry.service_keys k set revoked_at = coalesce(k.revoked_at, greatest(k.created_at, now()))
        from before b where k.org_id = b.org_id and k.key_id = b.key_id
        returning k.*, b.revoked_at is null as newly
      ), newly as (
        select org_id, key_id from revoked where newly
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'key.revoke', targetKind: 'key' },
          { source: 'newly', targetId: sql`key_id`, before: sql`null`, after: sql`null` },
        )}
      )
      select ${keyColumns(sql)}, k.auth_sha256 from revoked k`);
    if (row === undefined) throw noSuchKey();
    return { key: toServiceKey(row), authSha256: row.auth_sha256 };
  }

  /** Returns the live key of a digest, in any organization, and its grants; null when unknown or revoked. */
  async resolve(
    authSha256: Uint8Array,
  ): Promise<{ readonly key: ServiceKey; readonly contentGrants: readonly ContentGrant[] } | null> {
    const { sql } = this;
    const [row] = await query(sql<(KeyRow & GrantsRow)[]>`
      select ${keyColumns(sql)}, g.from_key_ids, g.wrapped from registry.service_keys k, lateral (
        select array_agg(from_key_id order by from_key_id) as from_key_ids,
          array_agg(encode(wrapped, 'hex') order by from_key_id) as wrapped
        from registry.content_grants where org_id = k.org_id and key_id = k.key_id) g
      where k.auth_sha256 = ${authSha256} and k.revoked_at is null`);
    if (row === undefined) return null;
    const { from_key_ids: fromKeyIds, wrapped } = row;
    const contentGrants = (fromKeyIds ?? []).map((fromKeyId, i) => {
      return { fromKeyId, wrapped: Buffer.from(wrapped?.[i] ?? '', 'hex') };
    });
    return { key: toServiceKey(row), contentGrants };
  }

  /**
   * Keeps the content part of the key `fromKeyId`, wrapped for the key `keyId`, either of which may be revoked; returns
   * the digest of `keyId`. The same bytes again change nothing.
   * @throws ServiceError not_found without both keys, invalid_request at 20 grants, or if `fromAuthSha256` is not empty
   * and that of another key.
   */
  async grantContent(
    { orgId, keyId, doer }: KeyAct,
    { fromKeyId, wrapped, fromAuthSha256 }: ContentGrant & { readonly fromAuthSha256: Uint8Array },
  ): Promise<Buffer> {
    const isNamed = fromAuthSha256.length > 0;
    const granting = this.sql.begin(async (sql) => {
      // Grants to one key follow each other, each with a view of those before it: so their bound holds.
      await sql`select from registry.service_keys where org_id = ${orgId} and key_id = ${keyId} for no key update`;
      return sql<{ auth_sha256: Buffer; room: boolean; fits: boolean }[]>`
        with space as (
          select t.auth_sha256, f.key_id as from_key_id,
            (not ${isNamed} or f.auth_sha256 = ${fromAuthSha256}::bytea) as fits,
            (select count(*) from registry.content_grants g
              where g.org_id = t.org_id and g.key_id = t.key_id and g.from_key_id <> f.key_id) < ${GRANTS_MAX} as room
          from registry.service_keys t, registry.service_keys f
          where t.org_id = ${orgId} and t.key_id = ${keyId} and f.org_id = ${orgId} and f.key_id = ${fromKeyId}
        ), granted as (
          insert into registry.content_grants as g (org_id, key_id, from_key_id, wrapped, granted_by)
          select ${orgId}, ${keyId}, from_key_id, ${wrapped}::bytea, ${doer.id} from space where room and fits
          on conflict on constraint content_grants_pkey do update
            set wrapped = excluded.wrapped, granted_at = now(), granted_by = excluded.granted_by
            where g.wrapped <> excluded.wrapped
          returning org_id, key_id, from_key_id
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'key.grant_content', targetKind: 'key' },
            {
              source: 'granted',
              targetId: sql`key_id`,
              before: sql`null`,
              after: sql`jsonb_build_object('from_key_id', from_key_id)`,
            },
          )}
        )
        select auth_sha256, room, fits from space`;
    });
    const [row] = await query(granting);
    if (row === undefined) throw noSuchKey();
    if (!row.fits) {
      const message = 'The content part that was wrapped is that of another key.';
      const findings = [{ path: '/from_auth_sha256', code: 'another_key', message }];
      throw new ServiceError('invalid_request', message, { findings });
    }
    if (row.room) return row.auth_sha256;
    throw new ServiceError('invalid_request', `A key holds at most ${GRANTS_MAX} content grants.`, {
      findings: [{ path: '', code: 'content_grants', message: 'Grant to another key.' }],
    });
  }

  /** Also for a revoked key: its runs continue and are still signed. @throws ServiceError not_found. */
  async renewWebhookSecret({ orgId, keyId, doer }: KeyAct, sealed: Buffer): Promise<void> {
    const { sql } = this;
    const rows = await query(sql`
      with renewed as (
        update registry.service_keys set sealed_webhook_secret = ${sealed}
        where org_id = ${orgId} and key_id = ${keyId}
        returning org_id, key_id
      ), audited as (
        ${auditRow(
          sql,
          { doer, action: 'key.renew_webhook_secret', targetKind: 'key' },
          { source: 'renewed', targetId: sql`key_id`, before: sql`null`, after: sql`null` },
        )}
      )
      select key_id from renewed`);
    if (rows.length === 0) throw noSuchKey();
  }

  /** Accurate to the minute, never backwards and never in the future. Missing keys are skipped. */
  async noteUse(uses: readonly KeyUse[]): Promise<void> {
    if (uses.length === 0) return;
    // Gateways record the same keys at the same time: rows are locked in one order, and only those that change.
    await query(this.sql`
      with noted as (
        select org_id, key_id, least(date_trunc('minute', max(used_at)), date_trunc('minute', now())) as used_at
        from unnest(
          ${uses.map(({ orgId }) => orgId)}::text[], ${uses.map(({ keyId }) => keyId)}::text[],
          ${uses.map(({ usedAt }) => usedAt.toISOString())}::timestamptz[]
        ) as use (org_id, key_id, used_at)
        group by org_id, key_id
      ), moved as (
        select k.org_id, k.key_id, n.used_at
        from registry.service_keys k join noted n on n.org_id = k.org_id and n.key_id = k.key_id
        where k.last_used_at is null or k.last_used_at < n.used_at
        order by k.org_id, k.key_id
        for update of k
      )
      update registry.service_keys k set last_used_at = m.used_at
      from moved m where k.org_id = m.org_id and k.key_id = m.key_id`);
  }

  /** Also for a revoked key. @throws ServiceError not_found. */
  async sealedWebhookSecret(orgId: OrgId, keyId: KeyId): Promise<Buffer> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<{ sealed_webhook_secret: Buffer }[]>`
          select sealed_webhook_secret from registry.service_keys where org_id = ${orgId} and key_id = ${keyId}`,
      ),
    );
    if (row === undefined) throw noSuchKey();
    return row.sealed_webhook_secret;
  }

  /** Returns any sealed secret of any organization, to check SECRETS_KEY with; null when there is none yet. */
  async sampleWebhookSecret(): Promise<{ orgId: OrgId; keyId: KeyId; sealed: Buffer } | null> {
    const [row] = await query(this.sql<{ org_id: OrgId; key_id: KeyId; sealed_webhook_secret: Buffer }[]>`
      select org_id, key_id, sealed_webhook_secret from registry.service_keys limit 1`);
    return row === undefined ? null : { orgId: row.org_id, keyId: row.key_id, sealed: row.sealed_webhook_secret };
  }
}

function noSuchKey(): ServiceError {
  return new ServiceError('not_found', 'There is no such service key.');
}

/** Returns the position of a key in the list, for a cursor. */
function keyPlace({ keyId, revokedAt }: ServiceKey): string {
  return `${revokedAt === null ? 'live' : 'revoked'}.${keyId}`;
}

export function isKeyPlace(place: string): boolean {
  const [state = '', keyId = '', ...more] = place.split('.');
  return (state === 'live' || state === 'revoked') && isId('key', keyId) && more.length === 0;
}
