// Asks the server, over a separate connection, to cancel the statement of a session. Only a request: the caller waits
// for no reply, and an unreachable server notices sooner or later that the session's connection is closed.
import { Socket } from 'node:net';
import type { Session } from './server-messages.ts';

const CANCEL_REQUEST = 80877102;
const GIVE_UP_MS = 2_000;
/** A server that stalls would collect one for each query. */
const UNDER_WAY_MAX = 16;
let underWay = 0;

export function requestCancel(connect: (socket: Socket) => void, { pid, secret }: Session): void {
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
