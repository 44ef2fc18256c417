// Bodies that may take long to arrive. Every other request must be here whole within the server's time; the recording of
// an upload may take as long as it needs, as long as its bytes keep coming.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const IDLE_MS = 30_000;

const open = new WeakSet<Socket>();

/** Routes of `scope` take slow bodies; after the scope has callers. */
export function addSlowBody(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const giveUp = () => socket.destroy();
    open.add(socket);
    socket.setTimeout(IDLE_MS, giveUp);
    reply.raw.once('close', () => {
      open.delete(socket);
      socket.setTimeout(0);
      socket.off('timeout', giveUp);
    });
    done();
  });
}

/** Whether the server's own limit does not apply to the data that arrives on this connection now. */
export function hasSlowBody(socket: Socket): boolean {
  return open.has(socket);
}
