// An HTTP server for tests that gives configured answers and records its requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export class TestServer {
  readonly seen: Seen[] = [];
  readonly server: Server;
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => {
    response.setHeader('content-type', 'application/json').end('{"id":"r1","extra":true}');
  };

  constructor() {
    this.server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      this.answer(request, response);
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get last(): Seen {
    return this.seen.at(-1) ?? { method: '', url: '', headers: {}, body: '' };
  }

  async start(): Promise<void> {
    await once(this.server.listen(0), 'listening');
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

/** Answers one way during `work`. */
export async function answering<T>(on: TestServer, answer: TestServer['answer'], work: () => Promise<T>): Promise<T> {
  const before = on.answer;
  on.answer = answer;
  try {
    return await work();
  } finally {
    on.answer = before;
  }
}
