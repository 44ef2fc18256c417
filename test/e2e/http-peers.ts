// Servers that a method's http steps call.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export class PeerServer {
  private readonly server: Server;

  constructor(listener: RequestListener) {
    this.server = createServer(listener);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** Takes requests and answers none. */
export class SilentServer extends PeerServer {
  private readonly sockets: Set<Socket>;

  constructor() {
    const sockets = new Set<Socket>();
    super(({ socket }) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    this.sockets = sockets;
  }

  /** Requests that a caller still waits for. */
  get open(): number {
    return this.sockets.size;
  }
}
