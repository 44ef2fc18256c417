// Receivers that take a webhook's connection and hold it: one never answers, one never shakes hands, one sends a byte a
// second. All on every address of 127.0.0.0/8, so that one server is many hosts.
import { createServer, type Server, type Socket } from 'node:net';

export interface SilentReceivers extends AsyncDisposable {
  readonly neverAnswers: number;
  readonly drips: number;
  /** Connections open now, and the most there were at once. */
  readonly open: number;
  readonly openMax: number;
}

const DRIP_MS = 1_000;

export async function silentReceivers(): Promise<SilentReceivers> {
  const sockets = new Set<Socket>();
  let openMax = 0;
  const listen = async (onSocket: (socket: Socket) => void): Promise<Server> => {
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
      openMax = Math.max(openMax, sockets.size);
      socket.resume();
      onSocket(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    return server;
  };
  const silent = await listen(() => {});
  const dripping = await listen((socket) => {
    const text = `HTTP/1.1 200 OK\r\nx-slow: ${'a'.repeat(1_000)}`;
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++] ?? ''), DRIP_MS);
    socket.on('close', () => clearInterval(timer));
  });
  const port = (server: Server) => (server.address() as { port: number }).port;
  return {
    neverAnswers: port(silent),
    drips: port(dripping),
    get open() {
      return sockets.size;
    },
    get openMax() {
      return openMax;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const server of [silent, dripping]) await new Promise((resolve) => server.close(resolve));
    },
  };
}
