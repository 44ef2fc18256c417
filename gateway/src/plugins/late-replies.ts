// Replies that are held back for a second: the 429 of whoever goes on asking after many of them, whatever refused it, and
// any reply but a probe's to an address that asks a lot without a key. Each costs as much as many a good request, and a
// client that heeds nothing would otherwise take the event loop of the others with them.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { SlowLane } from '@methods/base/slow-lane';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countedAddress } from './counted-address.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the probes of load balancers, which give up within a second: they are never late. */
    probe?: boolean;
  }
}

export interface LateRepliesOptions {
  readonly clock: Clock;
  /** 0: strangers are not held back, as they are not counted elsewhere either. */
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
