// Bounds large bodies, so that one organization does not delay others: limits their bytes for each organization, and
// parses them as long work, in which organizations take turns. The limit for sources is lower, since the method
// registry would refuse more of them only after they were read.
import type { Socket } from 'node:net';
import { type Caller, callerId } from '@methods/auth/caller';
import { Shares } from '@methods/base/shares';
import { overShare, type ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type LongWork, undivided } from '../turns/long-work.ts';
import { callerOf } from './caller.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is the source of a method, which the method registry checks. */
    source?: boolean;
  }
}

/** A body up to this is parsed within 5 ms. */
export const LARGE_BODY_BYTES = 64 * 1024;

/** Reading a body costs the event loop and its garbage collector about as much as parsing it, even if it is refused. */
const READ_MS_PER_MIB = 5;

/** Returns the time on the event loop for a caller's text that is read and passed on. */
export function readingMs(bytes: number): number {
  return (READ_MS_PER_MIB * bytes) / (1 << 20);
}

const BYTES = { placesMax: 256 << 20, perOrganizationMax: 32 << 20, perKeyMax: 32 << 20 };
/** For requests with large sources, until their replies are sent. A registry queues 8 per organization. */
const SOURCES = { placesMax: 1_024, perOrganizationMax: 8, perKeyMax: 6 };
const SOURCE_RETRY_MS = 2_000;

/** One for all surfaces. */
export class LargeBodies {
  readonly bytes = new Shares(BYTES);
  readonly sources = new Shares(SOURCES);

  constructor(private readonly longWork: LongWork) {}

  /** Resolves with the result of `parse` when it is the organization's turn. @throws ServiceError over its share */
  parse<T>(orgId: string, bytes: number, parse: () => T): Promise<T> {
    return this.longWork.run(orgId, bytes, undivided(parse), readingMs(bytes));
  }
}

/** For the routes of `scope`, which has callers: takes a body's share before its first byte is read. */
export function addLargeBodies(scope: FastifyInstance, largeBodies: LargeBodies): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const bytes = encoding === undefined ? Number(length ?? 0) : request.routeOptions.bodyLimit;
    // A body beyond the route's limit is refused by its length.
    if (!(bytes > LARGE_BODY_BYTES) || bytes > request.routeOptions.bodyLimit) return done();
    const caller = callerOf(request);
    if (request.routeOptions.config.source) {
      const refused = refusedSource(caller, reply, largeBodies);
      if (refused !== null) return done(refused);
    }
    const place = largeBodies.bytes.take(caller.orgId, '', bytes);
    if (!place.ok) return done(overShare('bytes of request bodies', place));
    reply.raw.once('close', place.leave);
    done();
  });
}

/** Called before a source from a request for any tool is sent to the registry. @throws ServiceError over its share */
export function enterSource(request: FastifyRequest, reply: FastifyReply, largeBodies: LargeBodies): void {
  if (request.bodyBytes <= LARGE_BODY_BYTES) return;
  const refused = refusedSource(callerOf(request), reply, largeBodies);
  if (refused !== null) throw refused;
}

/** Null: the source has a place until the reply is sent. */
function refusedSource(caller: Caller, reply: FastifyReply, { sources }: LargeBodies): ServiceError | null {
  const place = sources.take(caller.orgId, callerId(caller));
  if (!place.ok) return overShare('large sources', place, SOURCE_RETRY_MS);
  reply.raw.once('close', place.leave);
  return null;
}

// Lets bodies arrive slowly. Every other request must arrive within the server's time; the recording of an upload may
// take as long as it needs, while its bytes keep coming.

const IDLE_MS = 30_000;

const open = new WeakSet<Socket>();

/** For the routes of `scope`; called after the scope has callers. */
export function addSlowBody(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const giveUp = () => socket.destroy();
    open.add(socket);
    socket.setTimeout(IDLE_MS, giveUp);
    reply.raw.once('close', () => {
      open.delete(socket);
      socket.setTimeout(0);
      socket.off('timeout', giveUp);
    });
    done();
  });
}

/** Reports whether the server's own limit does not apply to the data that arrives on this connection now. */
export function hasSlowBody(socket: Socket): boolean {
  return open.has(socket);
}
