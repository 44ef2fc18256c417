// A real HTTP server that plays every host an example talks to, and the fetch that leads there.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';

/** The host that was meant; the connection itself goes to this machine. */
const HOST_HEADER = 'x-meant-for';

export interface WorldRequest {
  /** `GET shop.example.com/orders/7`, without the query. */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON; null where it is none. */
  readonly json: JsonValue;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly json?: JsonValue;
  readonly text?: string;
}

/** A reply, or what makes it of the request and of how often this route was asked before. */
export type Answer = Reply | ((request: WorldRequest, asked: number) => Reply);

/** Route to answer; `*` matches one part of a path. */
export type World = Readonly<Record<string, Answer>>;

export class OutsideWorld {
  readonly seen: WorldRequest[] = [];
  /** Routes without an answer: they get 404. */
  readonly unknown: string[] = [];
  private world: World = {};
  private readonly server = createServer((request, response) => void this.serve(request, response));

  async start(): Promise<void> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Begins again with these answers. */
  play(world: World): void {
    this.world = world;
    this.seen.length = 0;
    this.unknown.length = 0;
  }

  /** Requests of a route, in the order they came. */
  requests(pattern: string): WorldRequest[] {
    return this.seen.filter(({ route }) => matches(pattern, route));
  }

  /** The JSON object that the first request of a route carried. */
  sent(pattern: string): JsonObject {
    const [first] = this.requests(pattern);
    if (!isJsonObject(first?.json ?? null)) throw new Error(`no object was sent to ${pattern}`);
    return first?.json as JsonObject;
  }

  /** A fetch that comes here for any URL. */
  fetchThrough(send: typeof fetch): typeof fetch {
    return (input, init) => {
      const meant = new URL(String(input));
      const { port } = this.server.address() as AddressInfo;
      const headers = new Headers(init?.headers);
      headers.set(HOST_HEADER, meant.host);
      return send(`http://127.0.0.1:${port}${meant.pathname}${meant.search}`, { ...init, headers });
    };
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString();
    const url = new URL(incoming.url ?? '/', 'http://world');
    const route = `${incoming.method} ${incoming.headers[HOST_HEADER]}${url.pathname}`;
    const { headers } = incoming;
    const request = { route, query: url.searchParams, headers, text, bytes, json: jsonOrNull(text) };
    const asked = this.requests(route).length;
    this.seen.push(request);
    const pattern = Object.keys(this.world).find((known) => matches(known, route));
    const answer = pattern === undefined ? undefined : this.world[pattern];
    if (answer === undefined) this.unknown.push(route);
    send(
      response,
      answer === undefined ? { status: 404 } : typeof answer === 'function' ? answer(request, asked) : answer,
    );
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text = '' }: Reply): void {
  const type = json === undefined ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(json === undefined ? text : JSON.stringify(json));
}

function matches(pattern: string, route: string): boolean {
  const wanted = pattern.split('/');
  const given = route.split('/');
  return wanted.length === given.length && wanted.every((part, i) => part === '*' || part === given[i]);
}

function jsonOrNull(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}
