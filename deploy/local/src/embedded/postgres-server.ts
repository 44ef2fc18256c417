// The embedded Postgres of the local stack and of the tests: created on the first start, found again on the next,
// reachable only on loopback.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import getPort from 'get-port';
import postgres from 'postgres';
import { assertPortFree } from './free-port.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { choosePostgresIdentity, type IdentityWay, type PostgresIdentity } from './postgres-identity.ts';
import { type Exit, type ServerProcess, startServerProcess } from './server-process.ts';
import { StackError } from './stack-error.ts';

interface PostgresOptions {
  /** Holds the cluster and the file `password` (mode 0600); created if missing. */
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly logFile: string;
  /** More server settings, name to value. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Gets one sentence about anything unusual; silent by default. */
  readonly say?: (line: string) => void;
  /** For tests: remove this folder if our process dies. */
  readonly removeOnParentDeath?: string;
  /** For tests. */
  readonly identityWay?: IdentityWay;
}

export interface PostgresServer {
  /** For the superuser `postgres`, database `postgres`; contains the password. */
  readonly url: string;
  readonly port: number;
  /** The id of the real postmaster. */
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** SIGINT (the default) ends sessions and leaves a clean cluster; SIGKILL after 15 s. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Since recovery and a busy machine need more time. */
const READY_WITHIN_MS = 600_000;
const STOP_GRACE_MS = 15_000;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '10min',
  jit: 'off',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Statements and row values of failed statements are content, so they are not logged.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/** Throws StackError with one sentence; then nothing is left running. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  try {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StackError('folder_unusable', `The data folder ${options.dataDir} cannot be made or entered.`, {
      cause: error,
    });
  }
  const dataDir = realpathSync(options.dataDir);
  const identity = choosePostgresIdentity(dataDir, findPostgresBinaries(), options.identityWay);
  if (identity.notice) options.say?.(identity.notice);
  const password = ensureCluster(dataDir, identity);
  const cluster = join(identity.folder, 'cluster');
  await freeClusterFolder(cluster);
  const port = options.port === 0 ? await getPort({ host: '127.0.0.1' }) : options.port;
  await assertPortFree(port);

  const settings = Object.entries({ ...SETTINGS, ...options.settings, port: String(port) });
  const args = ['-D', cluster, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const server = await startServerProcess({
    name: 'Postgres',
    logFile: options.logFile,
    marker: cluster,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    ...identity.command(identity.binaries.postgres, args),
    ...(options.removeOnParentDeath && { removeOnParentDeath: options.removeOnParentDeath }),
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  try {
    await waitUntilReady(server, url, cluster, port);
  } catch (error) {
    await server.stop('SIGQUIT', STOP_GRACE_MS);
    throw error;
  }
  return {
    url,
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async (signal = 'SIGINT') => void (await server.stop(signal, STOP_GRACE_MS)),
  };
}

/** Returns the superuser's password; creates the cluster on first use, whole or not at all. */
function ensureCluster(dataDir: string, identity: PostgresIdentity): string {
  const passwordFile = join(dataDir, 'password');
  const cluster = join(identity.folder, 'cluster');
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    if (!existsSync(passwordFile)) {
      throw new StackError('folder_unusable', `${passwordFile} is missing: start over with --reset.`);
    }
    return readFileSync(passwordFile, 'utf8').trim();
  }
  const password = randomBytes(24).toString('hex');
  const partial = join(identity.folder, 'cluster.partial');
  const passwordForInitdb = join(identity.folder, 'initdb-password');
  try {
    rmSync(partial, { recursive: true, force: true });
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    writeFileSync(passwordForInitdb, `${password}\n`, { mode: 0o600 });
    identity.give(passwordForInitdb);
  } catch (error) {
    throw new StackError('folder_unusable', `The data folder ${dataDir} is not writable.`, { cause: error });
  }
  const options = ['--encoding=UTF8', '--locale=C.UTF-8', '--data-checksums', '--username=postgres'];
  const { command, args, ...ids } = identity.command(identity.binaries.initdb, [
    ...options,
    '--auth=scram-sha-256',
    `--pwfile=${passwordForInitdb}`,
    `--pgdata=${partial}`,
  ]);
  const made = spawnSync(command, args, { ...ids, cwd: '/', encoding: 'utf8', env: { PATH: process.env.PATH ?? '' } });
  rmSync(passwordForInitdb, { force: true });
  if (made.status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
    const reason = lastLine(made.stderr) || made.error?.message || `initdb ended with ${made.status ?? made.signal}`;
    throw new StackError('start_failed', `Postgres could not make its files in ${identity.folder}: ${reason}`);
  }
  renameSync(partial, cluster);
  return password;
}

async function waitUntilReady(server: ServerProcess, url: string, cluster: string, port: number): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    if (!server.running) throw failedStart(server, port);
    const sql = postgres(url, { max: 1, connect_timeout: 30, onnotice: () => {}, fetch_types: false });
    try {
      const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`;
      // Behind a taken port we would connect to its owner.
      if (row?.folder === cluster) return;
      throw new StackError('port_taken', `Port ${port} belongs to another Postgres.`);
    } catch (error) {
      if (error instanceof StackError) throw error;
      const code = (error as { code?: string }).code;
      // 28xxx: the server that answers does not know our password. Ours knows it as soon as it answers.
      if (code?.startsWith('28')) throw new StackError('port_taken', `Port ${port} belongs to another Postgres.`);
      if (performance.now() > deadline) {
        throw new StackError('start_failed', `Postgres was not ready within ${READY_WITHIN_MS / 1000} s.`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

function failedStart(server: ServerProcess, port: number): StackError {
  const log = server.logTail();
  if (log.includes('Address already in use')) return new StackError('port_taken', `Port ${port} is already in use.`);
  const fatal = log.split('\n').findLast((line) => /FATAL|PANIC|error while loading/.test(line));
  return new StackError('start_failed', `Postgres ended at its start: ${fatal ?? lastLine(log) ?? 'no reason given'}`);
}

function lastLine(text: string | null): string | undefined {
  return text?.trim().split('\n').at(-1);
}

// Checks whether a Postgres cluster folder is free. After SIGKILL the lock file remains, and its process id may since
// belong to another process, which would block a restart forever; backends live for another moment and still write.

const ORPHANS_WAIT_MS = 10_000;

/** Resolves when nothing uses the cluster and no lock file is left; throws StackError `folder_in_use` otherwise. */
async function freeClusterFolder(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  // Without /proc we can know no more than Postgres itself finds out.
  if (!existsSync('/proc/self')) return;
  const postmaster = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  const deadline = performance.now() + ORPHANS_WAIT_MS;
  for (;;) {
    const users = processesIn(cluster);
    if (users.length === 0) break;
    if (users.includes(postmaster) || performance.now() > deadline) {
      throw new StackError(
        'folder_in_use',
        `Another Postgres (process ${users[0]}) already runs on ${cluster}: stop it first.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  rmSync(lockFile, { force: true });
}

/** Returns the ids of the processes whose working folder is `folder`, which every Postgres process enters. */
function processesIn(folder: string): number[] {
  const real = realpathSync(folder);
  const found: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === real) found.push(Number(entry));
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  return found;
}
