// A whole registry in the test's process: real Postgres, real gRPC, every log line kept.
import type { MethodId, OrgId, UserId } from '@methods/base/ids';
import 'reflect-metadata/lite';
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { Secret } from '@methods/config/environment';
import { createLogger } from '@methods/logging/logger';
import { openPool } from '@methods/postgres/pool';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { type Door, doorTo } from '@methods/test/harness/database-door';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { composeMethodRegistry } from '../src/composition.ts';
import type { BlobsConfig } from '../src/config.ts';
import type { Database } from '../src/store/registry-database.ts';

export type RegistryClient = Client<typeof MethodRegistryService>;
export type AccountClient = Client<typeof AccountService>;

export interface RunningRegistry {
  /** `host:port`. */
  readonly address: string;
  readonly client: RegistryClient;
  readonly accounts: AccountClient;
  readonly uploads: Client<typeof UploadService>;
  readonly endpoints: Client<typeof EndpointService>;
  readonly runs: Client<typeof RunRecordService>;
  /** The connection between the registry and its database. */
  readonly door: Door;
  readonly secretsKey: string;
  /** A connection beside the registry's own. */
  readonly sql: Database;
  /** Everything logged so far, at debug. */
  log(): string;
  stop(): Promise<void>;
}

let common: Promise<RunningRegistry> | undefined;

// The process's hook: runs when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

/**
 * One for all files of a process whose tests look only at organizations they created. Plans of statements, sweeps of
 * whole tables and outages need a separate registry.
 */
export function commonRegistry(): Promise<RunningRegistry> {
  common ??= startRegistry();
  return common;
}

/** Without `natsUrl` there is no server at its NATS address: only events may depend on it. */
export async function startRegistry({
  natsUrl = 'nats://127.0.0.1:1',
  blobs = { kind: 'postgres' },
}: {
  readonly natsUrl?: string;
  readonly blobs?: BlobsConfig;
} = {}): Promise<RunningRegistry> {
  const database = await migratedDatabase('method-registry');
  const door = await doorTo(database.url);
  const secretsKey = randomBytes(32).toString('base64');
  const lines: string[] = [];
  const registry = composeMethodRegistry(
    {
      listen: '127.0.0.1:0',
      postgresUrl: new Secret(door.url),
      natsUrl: new Secret(natsUrl),
      secretsKey: new Secret(secretsKey),
      blobs,
      logLevel: 'debug',
    },
    createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(line) } }),
  );
  await registry.start();
  const client = rpcClient(MethodRegistryService, `127.0.0.1:${registry.port}`);
  const accounts = rpcClient(AccountService, `127.0.0.1:${registry.port}`);
  const uploads = rpcClient(UploadService, `127.0.0.1:${registry.port}`);
  const endpoints = rpcClient(EndpointService, `127.0.0.1:${registry.port}`);
  const runs = rpcClient(RunRecordService, `127.0.0.1:${registry.port}`);
  const sql = openPool({ url: database.url, applicationName: 'test', max: 2, statementTimeoutMs: 10_000 });
  return {
    address: `127.0.0.1:${registry.port}`,
    client,
    accounts,
    uploads,
    endpoints,
    runs,
    door,
    secretsKey,
    sql,
    log: () => lines.join(''),
    async stop() {
      client.close();
      accounts.close();
      uploads.close();
      endpoints.close();
      runs.close();
      await registry.stop();
      await sql.end({ timeout: 1 });
      await door.shut();
      await database.drop();
    },
  };
}

export async function newOrganization(client: RegistryClient): Promise<OrgId> {
  const externalId = randomBytes(8).toString('hex');
  const { orgId } = await client.ensureOrganization({ issuer: 'https://id.example', externalId, name: 'Acme' });
  return orgId;
}

/** Creates a member on first use in `externalOrgId`, by default in a new organization, whose admin they become. */
export async function newMember(accounts: AccountClient, externalOrgId = randomBytes(8).toString('hex'), more = {}) {
  const claims = { issuer: 'https://id.example', externalOrgId, subject: randomBytes(8).toString('hex') };
  const { member } = await accounts.ensureUser({ ...claims, ...more });
  if (member === undefined) throw new Error('no member');
  const { orgId, orgName, userId, role } = member;
  return { orgId, orgName, userId, role, externalOrgId, claims };
}

/** The member as an actor. */
export function asDoer({ userId }: { readonly userId: UserId }) {
  return { kind: 'user', id: userId, ip: '203.0.113.7', requestId: 'req-1' };
}

export async function newKey(client: RegistryClient, orgId: OrgId) {
  const made = createServiceKey();
  const { key, webhookSecret } = await client.createServiceKey({
    doer: TEST_DOER,
    orgId,
    name: 'app',
    authSha256: made.authSha256,
  });
  return { made, keyId: key?.keyId ?? 'key_none', webhookSecret, authSha256: made.authSha256 };
}

/** Returns a small valid method; `title` makes it distinct. */
export function methodSource(title: string): Buffer {
  return Buffer.from(
    [
      'format: method/2',
      'name: weekly-report',
      `title: ${title}`,
      'secrets: [SHOP_TOKEN]',
      'steps:',
      '  - name: orders',
      '    http:',
      '      get: https://shop.example.com/api/orders',
      '      auth: { bearer: SHOP_TOKEN }',
      '    out:',
      '      total: number',
      'result:',
      '  total: =steps.orders.total',
      '',
    ].join('\n'),
  );
}

export async function newMethod(client: RegistryClient, orgId: OrgId, source = methodSource('Weekly report')) {
  const { method, version } = await client.createMethod({
    doer: TEST_DOER,
    orgId,
    idempotencyHash: randomBytes(32),
    source,
  });
  return { methodId: method?.methodId ?? ('' as MethodId), versionId: version?.versionId ?? 'ver_none' };
}
