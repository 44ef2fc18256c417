// A real Postgres for tests: one server a test process, or the runner's own one, and a fresh database for whoever asks.
// No call ends the server: it goes, and its folder with it, when the test process ends, however that happens.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '@methods/local-stack/embedded/postgres-server';
import { createDatabase, dropDatabase } from '@methods/postgres/database';
import { tempFolder } from './temp-folder.ts';

export interface TestPostgres {
  /** Of the superuser. */
  readonly url: string;
  /** An empty database of its own; `drop` breaks off its sessions. */
  freshDatabase(): Promise<{ url: string; drop(): Promise<void> }>;
}

let shared: Promise<TestPostgres> | undefined;

/** The server of METHODS_TEST_POSTGRES_URL where the test runner set it, else one started on first use. */
export function testPostgres(): Promise<TestPostgres> {
  shared ??= open();
  return shared;
}

async function open(): Promise<TestPostgres> {
  const url = process.env.METHODS_TEST_POSTGRES_URL ?? (await startTestPostgres()).url;
  return {
    url,
    async freshDatabase() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      return { url: await createDatabase(url, name), drop: () => dropDatabase(url, name) };
    },
  };
}

/** A server of the caller's own: for the test runner, and for tests that stop or kill it. */
export interface OwnPostgres extends PostgresServer {
  /** Starts it on the same files and port, after it was stopped or killed. */
  again(): Promise<OwnPostgres>;
  /** The same at another port: what stood by takes over. */
  elsewhere(): Promise<OwnPostgres>;
  /** SIGSTOP of the server and all its sessions, and SIGCONT: sockets stay open, nothing answers. */
  freeze(): void;
  thaw(): void;
}

export function startTestPostgres(
  settings: Readonly<Record<string, string>> = {},
  folder = tempFolder('postgres'),
): Promise<OwnPostgres> {
  const start = async (port: number): Promise<OwnPostgres> => {
    const server = await startPostgres({
      dataDir: join(folder, 'data'),
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

/** A stopped postmaster makes no more. */
function childrenOf(postmaster: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
    .map(Number);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which is in brackets and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
