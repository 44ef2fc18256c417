// A connection's socket that is broken off when the server owes an answer for too long, and that can be found by its
// session's id, to be broken off when a query's own deadline has passed. On a broken socket postgres.js fails the
// queries of that connection and opens a new one when it next needs it.
import { Socket } from 'node:net';

export interface SocketTarget {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

export interface WatchOptions {
  /** Breaks the socket off when the server owes an answer for this long; 0 watches nothing. */
  readonly silentMs: number;
  /** Called, before postgres.js learns of it, when a socket closes over which the server had spoken. */
  readonly onLost: () => void;
}

class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError';
  readonly code = 'CONNECTION_SILENT';
}

/** How to break off the connection of each session. */
const sessions = new Map<string, (error: Error) => void>();
let hostTurn = 0;

/**
 * Connecting, not connected: postgres.js forgets a connection for ever when its socket function rejects.
 * What is lost after the server began to answer is found by TCP keepalive.
 * A connection with TLS is watched by keepalive and the session's own limits alone.
 */
export function watchedSocket(target: SocketTarget, { silentMs, onLost }: WatchOptions): Socket {
  const socket = new Socket();
  socket.setNoDelay(true);
  let timer: NodeJS.Timeout | undefined;
  let session: string | null = null;
  let spoken = false;
  const answered = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const breakOff = (error: Error) => {
    // Now, since queries may be asked before the socket tells that it closed.
    onLost();
    socket.destroy(error);
  };
  let greeting: Buffer | null = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    answered();
    spoken = true;
    if (greeting === null) return;
    greeting = Buffer.concat([greeting, chunk]);
    session = sessionIn(greeting);
    if (session !== null) sessions.set(session, breakOff);
    if (session !== null || greeting.length > GREETING_BYTES_MAX) greeting = null;
  });
  const destroy = socket._destroy.bind(socket);
  // Not a listener: postgres.js takes them all away when it begins TLS.
  socket._destroy = (error, done) => {
    answered();
    if (session !== null) sessions.delete(session);
    if (spoken) onLost();
    destroy(error, done);
  };
  connect(socket, target);
  if (silentMs > 0) {
    // After `connect`, which puts the original `write` back.
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]) => {
      timer ??= setTimeout(() => breakOff(new DatabaseSilentError('the database did not answer')), silentMs);
      return write(...args);
    };
  }
  return socket;
}

function connect(socket: Socket, target: SocketTarget): void {
  if (target.path) {
    socket.connect(target.path);
    return;
  }
  const turn = hostTurn++ % target.host.length;
  const host = target.host[turn] ?? 'localhost';
  const port = target.port[turn] ?? 5432;
  // postgres.js reads the name for TLS from here.
  Object.assign(socket, { host, port });
  socket.connect(port, host);
}

/** For a connection that must not be made: postgres.js wants a socket, and fails the query that waits for it. */
export function failingSocket(): Socket {
  const socket = new Socket();
  const error = Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
  setImmediate(() => socket.destroy(error));
  return socket;
}

/** Breaks off the connection of a server session; false when it is not known. */
export function breakOffSession(pid: number, secret: number): boolean {
  const breakOff = sessions.get(`${pid}/${secret}`);
  breakOff?.(new DatabaseSilentError('a query passed its deadline'));
  return breakOff !== undefined;
}

const GREETING_BYTES_MAX = 16 * 1024;
const BACKEND_KEY_DATA = 0x4b;

/** The server's BackendKeyData message (protocol 3.0: type, length, process id, secret) among its first messages. */
function sessionIn(bytes: Buffer): string | null {
  for (let at = 0; at + 13 <= bytes.length; ) {
    if (bytes[at] === BACKEND_KEY_DATA) return `${bytes.readUInt32BE(at + 5)}/${bytes.readUInt32BE(at + 9)}`;
    at += 1 + bytes.readUInt32BE(at + 1);
  }
  return null;
}
