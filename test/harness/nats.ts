// A real nats-server for tests, which they may kill, wipe and freeze: a new one for every call, on a port that it
// keeps. It and its folder are removed when the test process ends, even after a kill.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type NatsServer, startNats } from '@methods/local-stack/embedded/nats-server';
import { tempFolder } from './temp-folder.ts';

export interface TestNats {
  readonly url: string;
  /** The process id of the running server. */
  readonly pid: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and files; stops a running one first. */
  restart(): Promise<void>;
  /** SIGKILL, loses all its data, starts it again. */
  wipe(): Promise<void>;
  /** SIGSTOP and SIGCONT: sockets are kept open, but nothing answers. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/**
 * Neither a server of ours nor a client without its server keeps a process alive, so a test that waits for them must do
 * so.
 */
async function awake<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 1_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}

export async function testNats(folder = tempFolder('nats')): Promise<TestNats> {
  const dataDir = join(folder, 'data');
  const start = (port: number) =>
    startNats({ dataDir, port, logFile: join(folder, 'nats.log'), removeOnParentDeath: folder });
  let server: NatsServer = await start(0);
  const { url, port } = server;
  return {
    url,
    get pid() {
      return server.pid;
    },
    kill: () => awake(() => server.stop('SIGKILL')),
    restart: () =>
      awake(async () => {
        await server.stop();
        server = await start(port);
      }),
    wipe: () =>
      awake(async () => {
        await server.stop('SIGKILL');
        rmSync(dataDir, { recursive: true, force: true });
        server = await start(port);
      }),
    freeze: () => stopProcess(server.pid),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    stop: () => server.stop(),
  };
}

/** The signal is not immediate: a thread on another core runs for a moment longer and may still answer. */
function stopProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const threads = `/proc/${pid}/task`;
  const isStopped = (thread: string) => / T /.test(readFileSync(`${threads}/${thread}/stat`, 'utf8').slice(0, 60));
  while (!readdirSync(threads).every(isStopped));
}
