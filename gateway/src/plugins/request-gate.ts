// Refuses requests that two HTTP parsers could read in different ways, and sets the headers of every response. Node's
// parser refuses other smuggling tricks; these it accepts, or answers in a form that is not ours.
import type { IncomingMessage } from 'node:http';
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { SlowLane } from '@methods/base/slow-lane';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countedAddress } from '../callers/surface.ts';

export function addRequestGate(app: FastifyInstance): void {
  // An unknown expectation is ignored, as the standard allows; Node would answer without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Saved content is returned with its own type, even if it looks like another one to a browser.
    reply.header('x-content-type-options', 'nosniff');
    const ambiguity = ambiguityOf(request.raw);
    if (ambiguity === null) return done();
    // The next bytes on this connection may belong to this request.
    reply.header('connection', 'close');
    done(new ServiceError('invalid_request', ambiguity));
  });
}

function ambiguityOf(request: IncomingMessage): string | null {
  if (!request.url?.startsWith('/')) return 'The request target has to be a path.';
  let hosts = 0;
  let authorizations = 0;
  // Node joins or drops repeated headers in `headers`; only the raw list shows them.
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts === 0 && request.httpVersion === '1.1') return 'The request has no Host header.';
  if (hosts > 1) return 'The request has more than one Host header.';
  if (authorizations > 1) return 'The request has more than one Authorization header.';
  const { method, headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return (method === 'GET' || method === 'HEAD') && hasBody ? `A ${method} request has no body.` : null;
}

// Delays two kinds of replies for a second: a 429 to a caller that has got many of them, and any reply except a probe's
// to an address that sends many requests without a key. A refusal costs about as much as a small request, so a client
// that ignores refusals would otherwise keep the event loop busy.
declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the probes of load balancers, which give up within a second: they are never delayed. */
    probe?: boolean;
  }
}

interface LateRepliesOptions {
  readonly clock: Clock;
  /** 0: clients without a key are not delayed, as other limits do not count them either. */
  readonly rateLimitPerKey: number;
}

export function addLateReplies(app: FastifyInstance, { clock, rateLimitPerKey }: LateRepliesOptions): void {
  const lane = new SlowLane(clock);
  app.addHook('onSend', (request, reply, _payload, done) => {
    const who = request.caller === null ? strangerOf(request, rateLimitPerKey) : refused(request.caller, reply);
    if (who === null) done();
    else lane.pass(who, done);
  });
}

function refused(caller: Caller, reply: FastifyReply): string | null {
  return reply.statusCode === 429 ? callerId(caller) : null;
}

function strangerOf(request: FastifyRequest, rateLimitPerKey: number): string | null {
  if (rateLimitPerKey === 0 || request.routeOptions.config?.probe) return null;
  return countedAddress(request.ip);
}
