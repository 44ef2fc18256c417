// Refuses a caller's requests beyond its rate before anything is done for them, and tells in headers what is left.
import { callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './caller.ts';
import { TokenBuckets } from './token-bucket.ts';

/** One limit for all surfaces: a caller's requests count together. Null for no limit. */
export function rateLimit(perSecond: number, clock: Clock): TokenBuckets | null {
  return perSecond === 0 ? null : new TokenBuckets({ clock, perSecond, burst: 2 * perSecond });
}

/** Routes of `scope`, which has callers: each key, person or upload has its own bucket. */
export function addRateLimit(scope: FastifyInstance, buckets: TokenBuckets | null): void {
  if (buckets === null) return;
  scope.addHook('onRequest', (request, reply, done) => {
    const { allowed, remaining, waitMs, fullMs } = buckets.take(callerId(callerOf(request)));
    reply.header('ratelimit-limit', buckets.burst);
    reply.header('ratelimit-remaining', remaining);
    reply.header('ratelimit-reset', Math.ceil(fullMs / 1_000));
    done(allowed ? undefined : new ServiceError('rate_limited', undefined, { retryAfterMs: waitMs }));
  });
}
