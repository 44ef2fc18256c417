// Runs a real method-registry as a separate process, for tests of its clients.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { openPool, type Sql } from '@methods/postgres/pool';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { type Door, doorTo } from './database-door.ts';
import { migratedDatabase } from './migrated-database.ts';
import { until } from './until.ts';

export interface RegistryProcess {
  /** `host:port`. */
  readonly address: string;
  readonly client: Client<typeof MethodRegistryService>;
  readonly accounts: Client<typeof AccountService>;
  readonly uploads: Client<typeof UploadService>;
  /** The proxy between the registry and its database. */
  readonly door: Door;
  /** A second connection to the registry's database. */
  readonly sql: Sql;
  /** Everything logged so far, at debug. */
  log(): string;
  stop(): Promise<void>;
}

let common: Promise<RegistryProcess> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

/**
 * One for all files of a process that only add organizations: people of two issuers are never of one organization.
 * Without events.
 */
export function commonRegistryProcess(): Promise<RegistryProcess> {
  common ??= startRegistryProcess();
  return common;
}

/** Without `natsUrl`, nothing listens at the registry's NATS address: only events may depend on NATS. */
export async function startRegistryProcess(natsUrl = 'nats://127.0.0.1:1'): Promise<RegistryProcess> {
  const database = await migratedDatabase('method-registry');
  const door = await doorTo(database.url);
  const child = spawn(
    process.execPath,
    nodeArguments(new URL('../../services/method-registry/src/main.ts', import.meta.url)),
    {
      env: {
        LISTEN: '127.0.0.1:0',
        POSTGRES_URL: door.url,
        NATS_URL: natsUrl,
        SECRETS_KEY: randomBytes(32).toString('base64'),
        LOG_LEVEL: 'debug',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const port = await until('the registry serves', () => servedPort(child, said));
  const address = `127.0.0.1:${port}`;
  const clients = {
    client: rpcClient(MethodRegistryService, address),
    accounts: rpcClient(AccountService, address),
    uploads: rpcClient(UploadService, address),
  };
  const sql = openPool({ url: database.url, applicationName: 'test', max: 2, statementTimeoutMs: 60_000 });
  return {
    address,
    ...clients,
    door,
    sql,
    log: () => said,
    async stop() {
      for (const client of Object.values(clients)) client.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
      await sql.end({ timeout: 1 });
      await door.shut();
      await database.drop();
    },
  };
}

function servedPort(child: ChildProcess, said: string): string | undefined {
  if (child.exitCode !== null) throw new Error(`the registry ended: ${said}`);
  return /"port":(\d+)[^\n]*"serving"/.exec(said)?.[1];
}
