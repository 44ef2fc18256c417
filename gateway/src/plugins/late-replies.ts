// Delays two kinds of replies for a second: a 429 to a caller that has got many of them, and any reply except a probe's
// to an address that sends many requests without a key. A refusal costs about as much as a small request, so a client
// that ignores refusals would otherwise keep the event loop busy.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { SlowLane } from '@methods/base/slow-lane';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countedAddress } from '../callers/counted-address.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the probes of load balancers, which give up within a second: they are never delayed. */
    probe?: boolean;
  }
}

export interface LateRepliesOptions {
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
