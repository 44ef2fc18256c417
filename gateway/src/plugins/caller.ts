// Authenticates the caller on every route of a guarded scope. A missing credential, and one that is malformed, unknown,
// expired, revoked or not accepted by the surface, get the same 401; an address that sends too many of those gets 429.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CallerRefused, type RefusalReason } from '../callers/caller-refused.ts';
import type { FindCaller } from '../callers/find-caller.ts';
import { countedAddress, type GuardedSurface } from '../callers/surface.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null only before authentication and on routes without it. */
    caller: Caller | null;
    /** The reason of a refused caller, for the log. */
    refusal: RefusalReason | null;
    /** Name and version of the MCP client, as it reports them; empty: none is known. */
    clientName: string;
    /** The tool that an MCP client called, for the log. */
    tool: string | null;
  }
  interface FastifyInstance {
    /**
     * Checks the credential of this request again and returns its caller, for replies that last. Only in a scope with
     * callers. @throws as FindCaller; CallerRefused if the credential names another caller now
     */
    callerAgain(request: FastifyRequest): Promise<Caller>;
  }
}

/** Called before any scope with callers. */
export function addCallerFields(app: FastifyInstance): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('refusal', null);
  app.decorateRequest('clientName', '');
  app.decorateRequest('tool', null);
}

interface CallerOptions {
  readonly findCaller: FindCaller;
  /** The WWW-Authenticate header of a 401. */
  readonly challenge: string;
  /** Null: every bad credential gets its 401. */
  readonly refusedCredentials: RefusedCredentials | null;
}

/** Requires a caller on every route of `scope`. */
export function addCaller(
  scope: FastifyInstance,
  surface: GuardedSurface,
  { findCaller, challenge, refusedCredentials }: CallerOptions,
): void {
  // Clients that look for scopes read errors too (RFC 6750, section 3.1): this token is refused, rather than none given.
  const refusedToken = challenge.includes('scope=') ? `${challenge}, error="invalid_token"` : challenge;
  scope.decorate('callerAgain', async (request: FastifyRequest) => {
    const [before, now] = [callerOf(request), await findCaller(request, surface)];
    // A browser whose session has ended may still be signed in to another organization.
    if (now.orgId === before.orgId && callerId(now) === callerId(before)) return now;
    throw new CallerRefused('unknown_session');
  });
  scope.addHook('onRequest', (request, reply, done) => {
    const accept = (caller: Caller) => {
      request.caller = caller;
      done();
    };
    const refuse = (error: unknown) => {
      if (!(error instanceof CallerRefused)) return done(error as Error);
      request.refusal = error.reason;
      const answer = refusedCredentials?.answerTo(request.ip, error) ?? error;
      const isWithout = error.reason === 'no_credential';
      if (answer.code === 'unauthorized') reply.header('www-authenticate', isWithout ? challenge : refusedToken);
      done(answer);
    };
    let caller: Caller | Promise<Caller>;
    try {
      caller = findCaller(request, surface);
    } catch (error) {
      return refuse(error);
    }
    if (caller instanceof Promise) caller.then(accept, refuse);
    else accept(caller);
  });
}

/** Returns the caller of a route in such a scope. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new ServiceError('unauthorized');
  return request.caller;
}

const BAD_CREDENTIALS = { perSecond: 1, burst: 60 };

/**
 * Limits how many bad credentials an address may send. Beyond that it gets 429 instead of 401, so that a program with a
 * dead key, or one that tries out keys, slows down. Good credentials from the same address are always accepted: many
 * people share one, and none of them may lock out the others.
 */
export class RefusedCredentials {
  private readonly buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.buckets = new TokenBuckets({ clock, ...BAD_CREDENTIALS });
  }

  /** Returns the error for a refused caller. A request without a credential does not count: clients begin that way. */
  answerTo(ip: string, refused: CallerRefused): ServiceError {
    if (refused.code !== 'unauthorized' || refused.reason === 'no_credential') return refused;
    const { allowed, waitMs } = this.buckets.take(countedAddress(ip));
    if (allowed) return refused;
    const message = 'Too many bad credentials came from this address.';
    return new ServiceError('rate_limited', message, { retryAfterMs: waitMs });
  }
}
