// Tells who asks: the service key of the Authorization header. Without one, or with one that is malformed, unknown or
// revoked, the answer is the same 401.
import type { Caller } from '@methods/auth/caller';
import { parseBearerKey } from '@methods/auth/service-key';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null only before authentication and on routes without it. */
    caller: Caller | null;
  }
}

export type FindCaller = (authPart: string) => Caller | null | Promise<Caller | null>;

/** A bit more than a whole key: nothing longer is looked at. */
const HEADER_LENGTH_MAX = 200;
const BEARER = /^bearer +(\S+) *$/i;

/** Every route of `scope` needs a caller. */
export function addCaller(scope: FastifyInstance, findCaller: FindCaller): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const accept = (caller: Caller | null) => {
      request.caller = caller;
      done(caller === null ? new ServiceError('unauthorized') : undefined);
    };
    const authPart = authPartOf(request);
    if (authPart === null) return accept(null);
    const caller = findCaller(authPart);
    if (caller instanceof Promise) caller.then(accept, done);
    else accept(caller);
  });
}

/** The caller of a route in such a scope. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new ServiceError('unauthorized');
  return request.caller;
}

function authPartOf({ headers }: FastifyRequest): string | null {
  const header = headers.authorization;
  if (header === undefined || header.length > HEADER_LENGTH_MAX) return null;
  const token = BEARER.exec(header)?.[1];
  return token === undefined ? null : (parseBearerKey(token)?.authPart ?? null);
}
