// One running stack for the tests of a file: the calls of its public interface, and the back doors that tests need to
// see what happened behind it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReadyLine } from '@methods/local-stack/stack';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import postgres from 'postgres';
import { migratedDatabase } from '../harness/migrated-database.ts';
import { ApiClient } from './api-client.ts';
import { StackProcess, stackFolder } from './stack-process.ts';

export const METHODS = fileURLToPath(new URL('./methods/', import.meta.url));

export interface Stack {
  readonly ready: ReadyLine;
  readonly process: StackProcess;
  /** Speaks to the first gateway with the stack's own key. */
  readonly api: ApiClient;
  /** Base URLs of all gateways, the first one first. */
  readonly gateways: readonly string[];
  readonly registry: Client<typeof MethodRegistryService>;
  readonly sql: postgres.Sql;
  /** Production id of a method of test/e2e/methods. */
  method(name: string): string;
  /** What a part wrote to its log. */
  log(part: string): string;
  stop(): Promise<void>;
}

export interface StackOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** On a database of the tests' Postgres: a server of its own would cost each stack two seconds. */
export async function startStack(name: string, { args = [], env = {} }: StackOptions = {}): Promise<Stack> {
  const database = await migratedDatabase();
  const folder = stackFolder(name);
  const stackProcess = new StackProcess({
    ...folder,
    args: ['--json', '--port', '0', '--methods', METHODS, ...args],
    env: { POSTGRES_URL: database.url, ...env },
  });
  const end = async () => {
    await stackProcess.stop();
    folder.remove();
    await database.drop();
  };
  try {
    return await opened(stackProcess, end);
  } catch (error) {
    await end();
    throw error;
  }
}

async function opened(stackProcess: StackProcess, end: () => Promise<void>): Promise<Stack> {
  const ready = await stackProcess.ready;
  const log = (part: string) => readFileSync(join(ready.data_dir, part, 'log'), 'utf8');
  const registry = rpcClient(MethodRegistryService, `127.0.0.1:${servedPort(log('method-registry'))}`);
  const sql = postgres(ready.postgres_url, { max: 2, onnotice: () => {} });
  const gateways = readdirSync(ready.data_dir)
    .filter((part) => part.startsWith('gateway-'))
    .sort()
    .map((part) => `http://127.0.0.1:${servedPort(log(part))}`);
  return {
    ready,
    process: stackProcess,
    api: new ApiClient(ready.base_url, ready.api_key),
    gateways,
    registry,
    sql,
    method(file) {
      const id = ready.methods[file];
      if (id === undefined) throw new Error(`there is no method ${file} in ${METHODS}`);
      return id;
    },
    log,
    async stop() {
      registry.close();
      await sql.end({ timeout: 5 });
      await end();
    },
  };
}

/** The ready line has only callers' addresses; a part's own log has its port. */
function servedPort(log: string): number {
  const [, port] = /"port":(\d+),"msg":"serving"/.exec(log) ?? [];
  if (port === undefined) throw new Error('a part wrote no port to its log');
  return Number(port);
}
