// A port before a database that can be shut: what is open breaks off and what comes is refused, as when Postgres dies.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Door {
  /** The database's URL through the door. */
  readonly url: string;
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Open at first. */
export async function doorTo(databaseUrl: string): Promise<Door> {
  const behind = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(Number(behind.port), behind.hostname);
    onward.on('error', () => socket.destroy());
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        onward.destroy();
      });
    socket.pipe(onward).pipe(socket);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const before = new URL(databaseUrl);
  before.hostname = '127.0.0.1';
  before.port = String(port);
  return {
    url: before.href,
    async shut() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
    open: () => listen(port),
  };
}
