// A way to a server that can be cut and joined again, at one address all the time.
import { connect, createServer, type Server, type Socket } from 'node:net';

export class SeveredServer {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly target: URL,
    private server: Server,
    private readonly port: number,
  ) {}

  static async before(target: string): Promise<SeveredServer> {
    const server = createServer();
    const port = await listening(server, 0);
    const way = new SeveredServer(new URL(target), server, port);
    way.serve();
    return way;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async join(): Promise<void> {
    this.server = createServer();
    this.serve();
    await listening(this.server, this.port);
  }

  private serve(): void {
    this.server.on('connection', (socket) => {
      const onward = connect(Number(this.target.port), this.target.hostname);
      for (const each of [socket, onward]) {
        this.sockets.add(each);
        each.on('close', () => this.sockets.delete(each));
      }
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
  }
}

function listening(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
