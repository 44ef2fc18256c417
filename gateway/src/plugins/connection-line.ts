// Requests that a client sends on one connection without awaiting the replies are handled one after the other: a packet
// of a hundred requests is a line of a hundred, not a hundred places and shares taken at once. It also is what frees
// them: the reply of a request further back belongs to no socket yet, and is never closed when the client has gone.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** A packet may hold two thousand requests. */
const WAITING_MAX = 100;

interface Line {
  busy: boolean;
  readonly waiting: (() => void)[];
}

export function addConnectionLine(app: FastifyInstance): void {
  const lines = new WeakMap<Socket, Line>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const line = lines.get(socket) ?? { busy: false, waiting: [] };
    lines.set(socket, line);
    const begin = () => {
      line.busy = true;
      reply.raw.once('close', () => {
        line.busy = false;
        line.waiting.shift()?.();
      });
      done();
    };
    if (!line.busy) return begin();
    if (line.waiting.length < WAITING_MAX) line.waiting.push(begin);
    else socket.destroy();
  });
}
