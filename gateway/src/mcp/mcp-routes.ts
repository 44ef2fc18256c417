// /mcp: the methods and runs of an organization as tools for agents, in both eras of the protocol at one URL. No state
// is kept between requests: each has its token and its own protocol server.

import { Readable } from 'node:stream';
import { ServiceError } from '@methods/errors/service-error';
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../plugins/caller.ts';
import { JSON_TYPE, replyErrors } from '../plugins/error-reply.ts';
import { unreadParts, watchStream } from '../plugins/unread-replies.ts';
import { mayStillRead } from '../routes/runs/event-streams.ts';
import { StreamBeat } from '../routes/runs/stream-beat.ts';
import { protocolServer } from './protocol-server.ts';
import type { McpParts } from './tool.ts';

const METHOD_NOT_ALLOWED = -32_000;
// Fastify writes the reply's length and the connection's state itself.
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'transfer-encoding']);

/** For the scope `mcp`. */
export function addMcpRoutes(scope: FastifyInstance, parts: McpParts): void {
  const { mcpUrl, publicUrl } = parts;
  if (mcpUrl === null) return;
  replyErrors(scope, parts.logger, errorMessage);
  addAllowedOrigin(scope, publicUrl === null ? [mcpUrl] : [mcpUrl, publicUrl]);
  const route = { schema: { hide: true }, config: { access: 'viewer' } } as const;
  scope.post('/mcp', route, async (request, reply) => {
    // A batch would be many calls for the price of one; the protocol has none since 2025-06-18.
    if (Array.isArray(request.body)) {
      return refuse(
        reply,
        400,
        ProtocolErrorCode.InvalidRequest,
        'Batches are not accepted: send one message in each request.',
      );
    }
    request.clientName = clientName(request.body, request.headers['mcp-session-id']);
    return exchange(request, reply);
  });
  // Closing the server waits for open replies, and these never end by themselves.
  const listening = new Set<McpHttpHandler>();
  scope.addHook('preClose', async () => {
    await Promise.all([...listening].map((handler) => handler.close()));
  });
  // The streams and sessions of the earlier era, which a server need not support.
  for (const method of ['GET', 'DELETE'] as const) {
    scope.route({
      method,
      url: '/mcp',
      ...route,
      handler: async (_request, reply) =>
        refuse(reply.header('allow', 'POST'), 405, METHOD_NOT_ALLOWED, 'Method not allowed: use POST.'),
    });
  }

  async function exchange(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const handler = createMcpHandler(() => protocolServer({ request, reply, parts }), {
      bus: parts.listChanges.busOf(callerOf(request).orgId),
      onerror: ({ name }) => parts.logger.debug({ request_id: request.id, error: name }, 'an MCP message was refused'),
    });
    if (isListening(request.body)) keepOpen(handler, request, reply);
    return sendResponse(handler, request, reply, parts);
  }

  /** A lasting reply takes a place among the streams, and ends when the caller loses its right to it. */
  function keepOpen(handler: McpHttpHandler, request: FastifyRequest, reply: FastifyReply): void {
    const { clock, eventStreams } = parts;
    const leave = eventStreams.take(callerOf(request));
    listening.add(handler);
    const mayRead = () => mayStillRead(scope, request, 'viewer');
    const drop = () => void handler.close();
    const beat = new StreamBeat(clock, eventStreams.limits, mayRead, { blockedSinceMs: null, comment() {}, drop });
    reply.raw.once('close', () => {
      beat.stop();
      listening.delete(handler);
      leave();
    });
  }
}

function isListening(message: unknown): boolean {
  return (message as { method?: unknown } | undefined)?.method === 'subscriptions/listen';
}

async function sendResponse(
  handler: McpHttpHandler,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: McpParts,
): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const message = new Request('http://mcp.invalid/mcp', {
    method: 'POST',
    headers: messageHeaders(request),
    signal: gone.signal,
  });
  const response = await handler.fetch(message, { parsedBody: request.body });
  reply.code(response.status);
  for (const [name, value] of response.headers) if (!OWN_HEADERS.has(name)) reply.header(name, value);
  const sessionId = sessionIdFor(request.body);
  if (sessionId !== null) reply.header('mcp-session-id', sessionId);
  if (response.body === null) return reply.send();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return reply.send(await response.text());
  watchStream(reply, parts.clock);
  return reply.send(messageBody(response.body, unreadParts(parts.unreadReplies, callerOf(request), reply)));
}

/** The headers that the protocol reads. */
const MESSAGE_HEADERS = ['content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

function messageHeaders({ headers }: FastifyRequest): Headers {
  const read = new Headers();
  for (const name of MESSAGE_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') read.set(name, value);
  }
  return read;
}

/** A refusal before the message is read, as an error of the protocol; `data` is the body of any other route. */
function errorMessage(error: ServiceError, body: object): object {
  if (error.code === 'unauthorized') return body;
  return rpcError(rpcCode(error), (body as { readonly message: string }).message, body);
}

function rpcCode({ code, findings }: ServiceError): ProtocolErrorCode {
  if (code === 'internal') return ProtocolErrorCode.InternalError;
  return code === 'invalid_request' && findings.length === 0
    ? ProtocolErrorCode.ParseError
    : ProtocolErrorCode.InvalidRequest;
}

function refuse(reply: FastifyReply, status: number, code: number, message: string): FastifyReply {
  return reply
    .code(status)
    .header('content-type', JSON_TYPE)
    .send(JSON.stringify(rpcError(code, message)));
}

function rpcError(code: number, message: string, data?: object): object {
  return { jsonrpc: '2.0', id: null, error: { code, message, ...(data && { data }) } };
}

// Name and version of an MCP client, as it reports them itself: in every request of the 2026-07-28 era, and once at the
// beginning in the era before. There the name comes back as the session id, which holds only this text: no state is
// stored for it and it grants no right, so any gateway serves the next request.
const PART_CHARACTERS_MAX = 80;
const SESSION = /^client\.([A-Za-z0-9_-]{1,700})$/;
// Names are shown in logs and receipts: nothing in them may change how these are read.
const UNSHOWN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns an empty text if the client reports no name. */
function clientName(message: unknown, sessionId: string | string[] | undefined): string {
  const params = objectOf(objectOf(message)?.params);
  const info = objectOf(objectOf(params?._meta)?.[CLIENT_INFO_META_KEY]) ?? infoOfInitialize(message);
  if (info !== null) return nameOf(info);
  const text = typeof sessionId === 'string' ? SESSION.exec(sessionId)?.[1] : undefined;
  return text === undefined ? '' : shown(Buffer.from(text, 'base64url').toString('utf8'), 2 * PART_CHARACTERS_MAX + 1);
}

/** Returns the session id for a client that begins in the earlier era. Null: the message begins no session. */
function sessionIdFor(message: unknown): string | null {
  const info = infoOfInitialize(message);
  const name = info === null ? '' : nameOf(info);
  return name === '' ? null : `client.${Buffer.from(name, 'utf8').toString('base64url')}`;
}

function infoOfInitialize(message: unknown): Record<string, unknown> | null {
  const request = objectOf(message);
  return request?.method === 'initialize' ? objectOf(objectOf(request.params)?.clientInfo) : null;
}

function nameOf({ name, version }: Record<string, unknown>): string {
  return [name, version]
    .map((part) => (typeof part === 'string' ? shown(part, PART_CHARACTERS_MAX) : ''))
    .filter((part) => part !== '')
    .join(' ');
}

function shown(text: string, charactersMax: number): string {
  return [...text.slice(0, 4 * charactersMax).replaceAll(UNSHOWN, ' ')].slice(0, charactersMax).join('').trim();
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

// Refuses requests to /mcp that a page of another site could have caused: by their Origin, and by a Host that is not
// this server's, as a foreign name pointed to this server would send (DNS rebinding).
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Guards the routes of `scope`. `addresses`: where clients and people reach this server. */
function addAllowedOrigin(scope: FastifyInstance, addresses: readonly string[]): void {
  const urls = addresses.map((address) => new URL(address));
  const hosts = new Set(urls.flatMap(namesOf));
  const origins = new Set(
    urls.flatMap((url) => namesOf(url).map((name) => new URL(`${url.protocol}//${name}:${url.port}`).origin)),
  );
  scope.addHook('onRequest', (request, _reply, done) => {
    const { origin } = request.headers;
    const isOurs = hosts.has(hostnameOf(request.host));
    if (isOurs && (origin === undefined || origins.has(origin))) return done();
    request.refusal = 'foreign_origin';
    const message = isOurs
      ? 'Pages of other sites may not use this MCP server.'
      : 'The Host header does not name this MCP server.';
    done(new ServiceError('forbidden', message));
  });
}

/** On the local machine these names are equivalent. */
function namesOf({ hostname }: URL): readonly string[] {
  return LOOPBACK.includes(hostname) ? LOOPBACK : [hostname];
}

/** Returns the name without the port; empty for a text that is no host. */
function hostnameOf(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:@/\s]+)(:\d*)?$/i.exec(host)?.[1]?.toLowerCase() ?? '';
}

// The body of a reply in parts. It is one stream, where adapters and pipes between the library's stream and the
// connection would be five: a client that only listens costs what its connection costs.

/** `count` is called with the bytes of each part; what it throws ends the reply. */
export function messageBody(parts: ReadableStream<Uint8Array>, count: (bytes: number) => void): Readable {
  const reader = parts.getReader();
  return new Readable({
    read() {
      reader.read().then(
        ({ done, value }) => {
          try {
            if (!done) count(value.length);
            this.push(done ? null : value);
          } catch (error) {
            this.destroy(error as Error);
          }
        },
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      reader.cancel().then(
        () => done(error),
        () => done(error),
      );
    },
  });
}
