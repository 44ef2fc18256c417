// A real HTTP receiver for tests: stores every request as it arrived and answers as configured.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** As received. */
  readonly rawBody: Buffer;
  readonly localAddress: string;
  readonly atMs: number;
}

export type Answer = (request: ReceivedRequest, response: ServerResponse, socket: Socket) => void;

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Resolves once `count` requests arrived; fails after `timeoutMs`. */
  received(count: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
}

export const status =
  (code: number, body = ''): Answer =>
  (_request, response) => {
    response.writeHead(code).end(body);
  };

/** Answers the first requests as listed and all others as the last. */
export function inTurn(...answers: readonly [Answer, ...Answer[]]): Answer {
  let turn = 0;
  return (request, response, socket) =>
    (answers[Math.min(turn++, answers.length - 1)] ?? answers[0])(request, response, socket);
}

export async function receiver(
  answer: Answer,
  options: { host?: string; port?: number; tls?: { key: string; cert: string } } = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const received: ReceivedRequest = {
        path: request.url ?? '',
        headers: request.headers,
        rawBody: Buffer.concat(chunks),
        localAddress: request.socket.localAddress ?? '',
        atMs: performance.now(),
      };
      requests.push(received);
      for (const look of waiting) look();
      answer(received, response, request.socket);
    });
  };
  const server: Server = options.tls === undefined ? createServer(onRequest) : createTlsServer(options.tls, onRequest);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    received: (count, timeoutMs = 120_000) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (requests.length < count) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(requests);
        };
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`${requests.length} of ${count} requests came within ${timeoutMs} ms`));
        }, timeoutMs);
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
