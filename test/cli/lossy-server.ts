// A server whose replies get lost: everything is passed on to the real one, and chosen requests are never answered.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `answered`: as the real server does. `unheard`: nothing is done, nothing is answered. `lost`: it is done, nothing is
 * answered. `broken`: it is done, and the connection ends.
 */
export type Fate = 'answered' | 'unheard' | 'lost' | 'broken';

export class LossyServer {
  /** Of requests that change something. */
  fate: Fate = 'answered';
  /** As many of the next such requests are answered nevertheless. */
  spared = 0;
  /** Such requests that got no answer, once they were done (or not). */
  unanswered = 0;
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(target: string): Promise<LossyServer> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const lossy = new LossyServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', async (request, response) => {
      const { method = 'GET', url = '/', headers } = request;
      const isSpared = method === 'GET' || lossy.spared-- > 0;
      const fate = isSpared ? 'answered' : lossy.fate;
      const body = await bodyOf(request);
      if (fate !== 'unheard') {
        const { authorization = '', 'content-type': type = '' } = headers;
        const reply = await fetch(target + url, {
          method,
          headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
          ...(method === 'GET' ? {} : { body }),
        });
        const text = await reply.text();
        if (fate === 'answered') {
          response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
          return;
        }
      }
      lossy.unanswered++;
      if (fate === 'broken') request.socket.destroy();
    });
    return lossy;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((closed) => this.server.close(() => closed()));
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
