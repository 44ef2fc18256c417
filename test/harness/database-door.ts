// A proxy before a database that can be shut: open connections break and new ones are refused, as when Postgres dies.
// It can also stall: connections stay open but carry nothing, as on a link whose other end is gone.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Door {
  /** The database's URL through the door. */
  readonly url: string;
  shut(): Promise<void>;
  open(): Promise<void>;
  /** From now on carries and reads nothing in either direction: senders find their buffers full in the end. */
  stall(): void;
  /** Stalled connections continue where they stopped. */
  flow(): void;
  /** Leads new connections to another database. */
  leadTo(databaseUrl: string): void;
}

/** Open at first. */
export async function doorTo(databaseUrl: string): Promise<Door> {
  let behind = new URL(databaseUrl);
  let stalled = false;
  const pairs = new Map<Socket, Socket>();
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const onward = connect(Number(behind.port), behind.hostname);
    onward.on('error', () => socket.destroy());
    pairs.set(socket, onward);
    socket
      .on('error', () => {})
      .on('close', () => {
        pairs.delete(socket);
        onward.destroy();
      });
    if (!stalled) join(socket, onward);
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
      for (const socket of pairs.keys()) socket.destroy();
      await once(server, 'close');
    },
    open: () => listen(port),
    stall() {
      stalled = true;
      for (const [socket, onward] of pairs) {
        socket.unpipe().pause();
        onward.unpipe().pause();
      }
    },
    flow() {
      stalled = false;
      for (const [socket, onward] of pairs) join(socket, onward);
    },
    leadTo(databaseUrl) {
      behind = new URL(databaseUrl);
    },
  };
}

function join(socket: Socket, onward: Socket): void {
  socket.pipe(onward).pipe(socket);
}
