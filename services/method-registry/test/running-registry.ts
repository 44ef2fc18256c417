// A whole registry in the test's process: real Postgres, real gRPC, every log line kept.
import 'reflect-metadata/lite';
import { randomBytes } from 'node:crypto';
import { createServiceKey } from '@methods/auth/service-key';
import { Secret } from '@methods/config/environment';
import { createLogger } from '@methods/logging/logger';
import { openPool } from '@methods/postgres/pool';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { testPostgres } from '@methods/test/harness/postgres';
import { composeMethodRegistry } from '../src/composition.ts';
import type { Database } from '../src/store/query.ts';
import { type Door, doorTo } from './database-door.ts';

export type RegistryClient = Client<typeof MethodRegistryService>;

export interface RunningRegistry {
  readonly client: RegistryClient;
  /** What lies between the registry and its database. */
  readonly door: Door;
  readonly secretsKey: string;
  /** A connection beside the registry's own. */
  readonly sql: Database;
  /** Everything logged so far, at debug. */
  log(): string;
  stop(): Promise<void>;
}

/** Without `natsUrl` nothing listens where it looks for NATS: nothing but events may depend on it. */
export async function startRegistry({ natsUrl = 'nats://127.0.0.1:1' } = {}): Promise<RunningRegistry> {
  const database = await (await testPostgres()).freshDatabase();
  const door = await doorTo(database.url);
  const secretsKey = randomBytes(32).toString('base64');
  const lines: string[] = [];
  const registry = composeMethodRegistry(
    {
      listen: '127.0.0.1:0',
      postgresUrl: new Secret(door.url),
      natsUrl: new Secret(natsUrl),
      secretsKey: new Secret(secretsKey),
      logLevel: 'debug',
    },
    createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(line) } }),
  );
  await registry.start();
  const client = rpcClient(MethodRegistryService, `127.0.0.1:${registry.port}`);
  const sql = openPool({ url: database.url, applicationName: 'test', max: 2, statementTimeoutMs: 10_000 });
  return {
    client,
    door,
    secretsKey,
    sql,
    log: () => lines.join(''),
    async stop() {
      client.close();
      await registry.stop();
      await sql.end({ timeout: 1 });
      await door.shut();
      await database.drop();
    },
  };
}

export async function newOrganization(client: RegistryClient): Promise<string> {
  const externalId = randomBytes(8).toString('hex');
  const { orgId } = await client.ensureOrganization({ issuer: 'https://id.example', externalId, name: 'Acme' });
  return orgId;
}

export async function newKey(client: RegistryClient, orgId: string) {
  const made = createServiceKey();
  const { key, webhookSecret } = await client.createServiceKey({ orgId, name: 'app', authSha256: made.authSha256 });
  return { made, keyId: key?.keyId ?? '', webhookSecret, authSha256: made.authSha256 };
}

/** A small valid method; `title` makes it one of its own. */
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

export async function newMethod(client: RegistryClient, orgId: string, source = methodSource('Weekly report')) {
  const { method, version } = await client.createMethod({ orgId, idempotencyHash: randomBytes(32), source });
  return { methodId: method?.methodId ?? '', versionId: version?.versionId ?? '' };
}
