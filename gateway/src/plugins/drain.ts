// Closing waits only for open requests. Node ends only those connections that are idle at the moment of closing: one
// that carries a reply just then, or was opened ahead and never used, would stay for its full keep-alive.
import type { FastifyInstance } from 'fastify';

const LOOK_EVERY_MS = 20;

export function addDrain(app: FastifyInstance): void {
  let openRequests = 0;
  // Those that wait for their turn on a connection are not open yet, and are never closed when the client goes.
  app.addHook('onRequest', (_request, reply, done) => {
    openRequests++;
    reply.raw.once('close', () => {
      openRequests--;
    });
    done();
  });
  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    timer = setInterval(() => {
      if (openRequests === 0) app.server.closeAllConnections();
    }, LOOK_EVERY_MS);
    done();
  });
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}
