// A real Postgres for tests: one server per test process, or the test runner's, and a fresh database for each caller.
// The server and its folder are removed when the test process ends, even after a kill.
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@methods/local-stack/embedded/postgres-server';
import postgres from 'postgres';
import { createDatabase } from './database.ts';
import { quickFolder, tempFolder } from './temp-folder.ts';

/** Room for some 250 databases of 10 MB each and their write-ahead log. */
const SHARED_BYTES = 4 * 2 ** 30;
const OWN_BYTES = 2 ** 28;

export interface TestPostgres {
  /** A URL of the superuser. */
  readonly url: string;
  /** Creates an empty database. */
  freshDatabase(): Promise<FreshDatabase>;
}

export interface FreshDatabase {
  readonly url: string;
  /**
   * Ends the database's sessions and refuses new ones. Its files are kept until the server ends: removing them would
   * cause a checkpoint.
   */
  drop(): Promise<void>;
}

let shared: Promise<TestPostgres> | undefined;

/** The server of METHODS_TEST_POSTGRES_URL if the test runner set it, else one started on first use. */
export function testPostgres(): Promise<TestPostgres> {
  shared ??= open();
  return shared;
}

async function open(): Promise<TestPostgres> {
  const url = process.env.METHODS_TEST_POSTGRES_URL ?? (await startSharedPostgres()).url;
  return {
    url,
    async freshDatabase() {
      return freshDatabase(url);
    },
  };
}

/**
 * Settings for many databases: few checkpoints, since each synchronizes some hundred files per database, and few rounds
 * of autovacuum over all of them. fsync and similar settings are on, because services insist on them.
 */
export function startSharedPostgres(): Promise<OwnPostgres> {
  const settings = {
    max_connections: '400',
    max_wal_size: '1GB',
    checkpoint_timeout: '1h',
    autovacuum_naptime: '5min',
    // Nothing is replicated.
    wal_level: 'minimal',
    max_wal_senders: '0',
  };
  return startTestPostgres(settings, quickFolder('postgres', SHARED_BYTES));
}

/** On the server of `url`, as that superuser. */
export async function freshDatabase(url: string, template?: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  return { url: await createDatabase(url, name, template), drop: () => closeDatabase(url, name) };
}

async function closeDatabase(url: string, name: string): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    await admin`alter database ${admin(name)} allow_connections false`;
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  } finally {
    await admin.end({ timeout: 5 });
  }
}

/**
 * Makes the files of a server that never ran but once, for METHODS_TEST_CLUSTER: a copy costs a tenth of initdb.
 * Returns their folder.
 */
export async function makeCluster(): Promise<string> {
  const folder = tempFolder('cluster');
  const dataDir = join(folder, 'data');
  const server = await startPostgres({ dataDir, port: 0, logFile: join(folder, 'postgres.log') });
  await server.stop();
  return dataDir;
}

/** Starts a separate server, for the test runner and for tests that stop or kill it. */
export interface OwnPostgres extends PostgresServer {
  /** Starts it on the same files and port, after it was stopped or killed. */
  again(): Promise<OwnPostgres>;
  /** The same on another port, as when a standby takes over. */
  elsewhere(): Promise<OwnPostgres>;
  /** SIGSTOP and SIGCONT for the server and all its sessions: sockets are kept open, but nothing answers. */
  freeze(): void;
  thaw(): void;
}

export function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
  folder = quickFolder('postgres', OWN_BYTES),
): Promise<OwnPostgres> {
  const made = process.env.METHODS_TEST_CLUSTER;
  const dataDir = join(folder, 'data');
  if (made !== undefined && !existsSync(dataDir)) {
    cpSync(made, dataDir, { recursive: true });
    // Since Node 22 the copy of a folder has the usual rights, which Postgres refuses.
    chmodSync(join(dataDir, 'cluster'), 0o700);
  }
  const start = async (port: number): Promise<OwnPostgres> => {
    const server = await startPostgres({
      dataDir,
      port,
      logFile: join(folder, 'postgres.log'),
      settings,
      removeOnParentDeath: folder,
    });
    let frozen: readonly number[] = [];
    return {
      ...server,
      again: () => start(server.port),
      elsewhere: () => start(0),
      freeze() {
        process.kill(server.pid, 'SIGSTOP');
        frozen = [server.pid, ...childrenOf(server.pid)];
        for (const pid of frozen) process.kill(pid, 'SIGSTOP');
      },
      thaw() {
        for (const pid of frozen) process.kill(pid, 'SIGCONT');
        frozen = [];
      },
    };
  };
  return start(0);
}

/** A stopped postmaster starts no more of them. */
function childrenOf(postmaster: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
    .map(Number);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which is in parentheses and may contain any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
