// Service keys in registry.service_keys.
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { ServiceKey } from '../key/service-key.ts';
import type { KeyStore, NewServiceKey } from './key-store.ts';
import { Database, query } from './query.ts';

const LIVE_KEYS_MAX = 500;
const LISTED_KEYS_MAX = 1_000;

interface KeyRow {
  readonly org_id: string;
  readonly key_id: string;
  readonly name: string;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

@injectable()
export class PostgresKeyStore implements KeyStore {
  constructor(@inject(Database) private readonly sql: Database) {}

  async create(key: NewServiceKey): Promise<ServiceKey> {
    const [row] = await query(
      this.sql<KeyRow[]>`
        insert into registry.service_keys (org_id, key_id, name, auth_sha256, sealed_webhook_secret)
        select ${key.orgId}, ${key.keyId}, ${key.name}, ${key.authSha256}::bytea, ${key.sealedWebhookSecret}::bytea
        where (select count(*) from registry.service_keys where org_id = ${key.orgId} and revoked_at is null)
          < ${LIVE_KEYS_MAX}
        returning org_id, key_id, name, created_at, revoked_at`,
      {
        service_keys_org_fkey: () => new ServiceError('not_found', 'There is no such organization.'),
        service_keys_auth_key: () => new ServiceError('idempotency_conflict', 'This service key exists already.'),
      },
    );
    if (row === undefined) {
      throw new ServiceError('invalid_request', `An organization holds at most ${LIVE_KEYS_MAX} live service keys.`, {
        findings: [{ path: '', code: 'live_keys', message: 'Revoke one first.' }],
      });
    }
    return toServiceKey(row);
  }

  async list(orgId: string): Promise<ServiceKey[]> {
    const rows = await query(this.sql<KeyRow[]>`
      select org_id, key_id, name, created_at, revoked_at from registry.service_keys
      where org_id = ${orgId}
      order by revoked_at is null desc, created_at desc, key_id desc
      limit ${LISTED_KEYS_MAX}`);
    return rows.map(toServiceKey);
  }

  async revoke(orgId: string, keyId: string): Promise<{ key: ServiceKey; authSha256: Buffer }> {
    const [row] = await query(this.sql<(KeyRow & { auth_sha256: Buffer })[]>`
      update registry.service_keys set revoked_at = coalesce(revoked_at, greatest(created_at, now()))
      where org_id = ${orgId} and key_id = ${keyId}
      returning org_id, key_id, name, created_at, revoked_at, auth_sha256`);
    if (row === undefined) throw noSuchKey();
    return { key: toServiceKey(row), authSha256: row.auth_sha256 };
  }

  async resolve(authSha256: Uint8Array): Promise<ServiceKey | null> {
    const [row] = await query(this.sql<KeyRow[]>`
      select org_id, key_id, name, created_at, revoked_at from registry.service_keys
      where auth_sha256 = ${authSha256} and revoked_at is null`);
    return row === undefined ? null : toServiceKey(row);
  }

  async sealedWebhookSecret(orgId: string, keyId: string): Promise<Buffer> {
    const [row] = await query(this.sql<{ sealed_webhook_secret: Buffer }[]>`
      select sealed_webhook_secret from registry.service_keys where org_id = ${orgId} and key_id = ${keyId}`);
    if (row === undefined) throw noSuchKey();
    return row.sealed_webhook_secret;
  }

  async sampleWebhookSecret(): Promise<{ orgId: string; keyId: string; sealed: Buffer } | null> {
    const [row] = await query(this.sql<{ org_id: string; key_id: string; sealed_webhook_secret: Buffer }[]>`
      select org_id, key_id, sealed_webhook_secret from registry.service_keys limit 1`);
    return row === undefined ? null : { orgId: row.org_id, keyId: row.key_id, sealed: row.sealed_webhook_secret };
  }
}

function noSuchKey(): ServiceError {
  return new ServiceError('not_found', 'There is no such service key.');
}

function toServiceKey(row: KeyRow): ServiceKey {
  return {
    orgId: row.org_id,
    keyId: row.key_id,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
