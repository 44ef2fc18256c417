// Receivers that accept a webhook's connection and keep it: one never answers, one never completes the handshake, one
// sends a byte a second. All listen on every address of 127.0.0.0/8, so that one server serves as many hosts.
import { createServer, type Server, type Socket } from 'node:net';

export interface SilentReceivers extends AsyncDisposable {
  readonly neverAnswers: number;
  readonly drips: number;
  /** Open connections now, and the maximum so far. */
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
