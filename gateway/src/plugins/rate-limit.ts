// Refuses a key's requests beyond its rate before anything is done for them, and tells in headers what is left.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './caller.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Routes of `scope`, which has callers; `perSecond` 0 is no limit. Bursts reach twice the rate. */
export function addRateLimit(scope: FastifyInstance, perSecond: number, clock: Clock): void {
  if (perSecond === 0) return;
  const burst = 2 * perSecond;
  const buckets = new TokenBuckets({ clock, perSecond, burst });
  scope.addHook('onRequest', (request, reply, done) => {
    const { allowed, remaining, waitMs, fullMs } = buckets.take(callerOf(request).keyId);
    reply.header('ratelimit-limit', burst);
    reply.header('ratelimit-remaining', remaining);
    reply.header('ratelimit-reset', Math.ceil(fullMs / 1_000));
    done(allowed ? undefined : new ServiceError('rate_limited', undefined, { retryAfterMs: waitMs }));
  });
}
