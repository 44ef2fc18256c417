// The nats-server of the local stack and of the tests: JetStream on disk, loopback only.
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import getPort from 'get-port';
import { assertPortFree } from './free-port.ts';
import { findNatsServer } from './nats-binary.ts';
import { type Exit, type ServerProcess, startServerProcess } from './server-process.ts';
import { StackError } from './stack-error.ts';

export { findNatsServer, installNatsServer } from './nats-binary.ts';

export interface NatsOptions {
  /** Holds the configuration and JetStream's files; created if missing. */
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly logFile: string;
  /** For tests: remove this folder if our process dies. */
  readonly removeOnParentDeath?: string;
}

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** SIGTERM by default; SIGKILL after 10 s. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Since a busy machine needs more time. */
const READY_WITHIN_MS = 600_000;
const STOP_GRACE_MS = 10_000;

/** Throws StackError with one sentence; then nothing is left running. */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  const binary = findNatsServer();
  if (!binary) throw new StackError('binary_missing', 'No nats-server was found on PATH or in /usr/sbin.');
  const port = options.port === 0 ? await getPort({ host: '127.0.0.1' }) : options.port;
  await assertPortFree(port);
  const serverName = `local-${randomBytes(8).toString('hex')}`;
  const configFile = join(options.dataDir, 'nats.conf');
  try {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(configFile, configuration(serverName, port, join(options.dataDir, 'jetstream')));
  } catch (error) {
    throw new StackError('folder_unusable', `The data folder ${options.dataDir} is not writable.`, { cause: error });
  }
  const server = await startServerProcess({
    name: 'nats-server',
    command: binary,
    args: ['-c', configFile],
    logFile: options.logFile,
    marker: configFile,
    ...(options.removeOnParentDeath && { removeOnParentDeath: options.removeOnParentDeath }),
  });
  try {
    await waitUntilReady(server, serverName, port);
  } catch (error) {
    await server.stop('SIGTERM', STOP_GRACE_MS);
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async (signal = 'SIGTERM') => void (await server.stop(signal, STOP_GRACE_MS)),
  };
}

function configuration(serverName: string, port: number, storeDir: string): string {
  return `server_name: ${serverName}
host: "127.0.0.1"
port: ${port}
max_payload: 4MB
ping_interval: "10s"
jetstream {
  store_dir: ${JSON.stringify(storeDir)}
  max_memory_store: 256MB
  max_file_store: 4GB
}
`;
}

async function waitUntilReady(server: ServerProcess, serverName: string, port: number): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    if (!server.running) throw failedStart(server, port);
    const found = await serverNameAt(port);
    if (found === serverName && server.logTail().includes('Server is ready')) return;
    if (found !== null && found !== serverName) {
      throw new StackError('port_taken', `Port ${port} belongs to another server.`);
    }
    if (performance.now() > deadline) {
      throw new StackError('start_failed', `nats-server was not ready within ${READY_WITHIN_MS / 1000} s.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

/** A NATS server sends first: `INFO {…}`. Null when there is no listener or nothing arrived within 1 s. */
function serverNameAt(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let text = '';
    const end = (name: string | null) => {
      socket.destroy();
      resolve(name);
    };
    socket.setTimeout(1000, () => end(null));
    socket.once('error', () => end(null));
    socket.once('close', () => end(null));
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      const name = /^INFO .*?"server_name":"([^"]*)"/.exec(text)?.[1];
      if (name !== undefined) end(name);
      else if (!'INFO '.startsWith(text.slice(0, 5)) || text.length > 64 * 1024) end('');
    });
  });
}

function failedStart(server: ServerProcess, port: number): StackError {
  const log = server.logTail();
  if (log.includes('address already in use')) return new StackError('port_taken', `Port ${port} is already in use.`);
  const fatal = log.split('\n').findLast((line) => line.includes('[FTL]'));
  return new StackError('start_failed', `nats-server ended at its start: ${fatal ?? 'no reason given'}`);
}
