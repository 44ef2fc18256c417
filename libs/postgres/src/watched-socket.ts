// A connection's socket that is closed when the server owes an answer for too long, and that can be found by its
// session's id, to be closed when a query's own deadline has passed. When a socket closes, postgres.js fails the
// queries of that connection and opens a new one when it next needs it.
import { Socket } from 'node:net';
import type { PoolLease } from './renewing-pool.ts';

const BYTES_MAX = 16 * 1024;
const BACKEND_KEY_DATA = 0x4b;
const ERROR_RESPONSE = 0x45;

export interface SocketTarget {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError';
  readonly code = 'CONNECTION_SILENT';
}

/** How to close the connection of each session, and its present statement. */
const sessions = new Map<string, () => void>();
let hostTurn = 0;

/**
 * Connecting, not connected: postgres.js never uses a connection again when its socket function rejects. With
 * `silentMs` the socket is destroyed when the server owes an answer for that long; 0 watches nothing. TCP keepalive
 * detects a connection that is lost after the server began to answer. A connection with TLS is watched by keepalive,
 * the session's own limits and the deadlines of queries only.
 */
export function watchedSocket(target: SocketTarget, silentMs: number, { onLost, sockets }: PoolLease): Socket {
  const socket = new Socket();
  socket.setNoDelay(true);
  sockets.add(socket);
  const turn = hostTurn++ % target.host.length;
  let timer: NodeJS.Timeout | undefined;
  let session: Session | null = null;
  let spoken = false;
  const greeting = new Greeting();
  const answered = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const breakOff = (why: string) => {
    // Now, since queries may be sent before the socket emits its close.
    onLost();
    socket.destroy(new DatabaseSilentError(why));
  };
  const known = (found: Session) => {
    session = found;
    sessions.set(keyOf(found), () => {
      requestCancel((other) => connect(other, target, turn), found);
      breakOff('a query passed its deadline');
    });
  };
  socket.on('data', (chunk: Buffer) => {
    answered();
    spoken = true;
    if (session !== null) return;
    greeting.hear(chunk);
    if (greeting.session !== null) known(greeting.session);
  });
  const destroy = socket._destroy.bind(socket);
  // Not a listener: postgres.js removes all of them when it begins TLS.
  socket._destroy = (error, done) => {
    answered();
    sockets.delete(socket);
    if (session !== null) sessions.delete(keyOf(session));
    // A refused connection does not count as lost: the others may be all that a full server allows.
    if (spoken && !(session === null && greeting.refused)) onLost();
    destroy(error, done);
  };
  connect(socket, target, turn);
  if (silentMs > 0) {
    // After `connect`, which puts the original `write` back.
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]) => {
      timer ??= setTimeout(() => breakOff('the database did not answer'), silentMs);
      return write(...args);
    };
  }
  return socket;
}

function connect(socket: Socket, target: SocketTarget, turn: number): void {
  if (target.path) {
    socket.connect(target.path);
    return;
  }
  const host = target.host[turn] ?? 'localhost';
  const port = target.port[turn] ?? 5432;
  // postgres.js reads the name for TLS from here.
  Object.assign(socket, { host, port });
  socket.connect(port, host);
}

/** For a connection that must not be opened: postgres.js needs a socket, and fails the query that waits for it. */
export function failingSocket(): Socket {
  const socket = new Socket();
  const error = Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' });
  setImmediate(() => socket.destroy(error));
  return socket;
}

/** Cancels what a server session does and closes its connection; returns false when the session is unknown. */
export function breakOffSession(session: Session): boolean {
  const breakOff = sessions.get(keyOf(session));
  breakOff?.();
  return breakOff !== undefined;
}

function keyOf({ pid, secret }: Session): string {
  return `${pid}/${secret}`;
}

const CANCEL_REQUEST = 80877102;
const GIVE_UP_MS = 2_000;
/** A server that stalls would collect one for each query. */
const UNDER_WAY_MAX = 16;
let underWay = 0;

/**
 * Asks the server, over a separate connection, to cancel the statement of a session. Only a request: the caller waits
 * for no reply, and an unreachable server notices sooner or later that the session's connection is closed.
 */
function requestCancel(connect: (socket: Socket) => void, { pid, secret }: Session): void {
  if (underWay >= UNDER_WAY_MAX) return;
  underWay++;
  const message = Buffer.alloc(16);
  message.writeUInt32BE(16, 0);
  message.writeUInt32BE(CANCEL_REQUEST, 4);
  message.writeUInt32BE(pid, 8);
  message.writeUInt32BE(secret, 12);
  const socket = new Socket();
  const timer = setTimeout(() => socket.destroy(), GIVE_UP_MS);
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    underWay--;
  });
  connect(socket);
  // The server closes the connection without a reply.
  socket.end(message);
  socket.resume();
}

export interface Session {
  readonly pid: number;
  readonly secret: number;
}

/**
 * Reads a server's first messages on a connection: its session, or that there will be none (protocol 3.0: each message
 * is a type, a length, and its content).
 */
class Greeting {
  private bytes: Buffer | null = Buffer.alloc(0);
  /** Null: not yet known, or never. */
  session: Session | null = null;
  /** The server wants no session: it is starting, stopping or full, or it refuses the caller. */
  refused = false;

  hear(chunk: Buffer): void {
    if (this.bytes === null) return;
    this.bytes = Buffer.concat([this.bytes, chunk]);
    this.read(this.bytes);
    if (this.session !== null || this.refused || this.bytes.length > BYTES_MAX) this.bytes = null;
  }

  private read(bytes: Buffer): void {
    for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readUInt32BE(at + 1)) {
      if (bytes[at] === ERROR_RESPONSE) this.refused = true;
      if (bytes[at] !== BACKEND_KEY_DATA || at + 13 > bytes.length) continue;
      this.session = { pid: bytes.readUInt32BE(at + 5), secret: bytes.readUInt32BE(at + 9) };
      return;
    }
  }
}
