// How many bad credentials an address may show. Beyond that it gets 429 in place of 401, so that a program with a dead
// key, or one that tries out keys, slows down. Good credentials are always accepted from the same address: many people
// share one, and one of them must not be able to lock the others out.
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { CallerRefused } from '../callers/caller-refused.ts';
import { countedAddress } from '../callers/counted-address.ts';

const BAD_CREDENTIALS = { perSecond: 1, burst: 60 };

export class RefusedCredentials {
  private readonly buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.buckets = new TokenBuckets({ clock, ...BAD_CREDENTIALS });
  }

  /** The error for a refused caller. A request without a credential does not count: clients begin that way. */
  answerTo(ip: string, refused: CallerRefused): ServiceError {
    if (refused.code !== 'unauthorized' || refused.reason === 'no_credential') return refused;
    const { allowed, waitMs } = this.buckets.take(countedAddress(ip));
    if (allowed) return refused;
    const message = 'Too many bad credentials came from this address.';
    return new ServiceError('rate_limited', message, { retryAfterMs: waitMs });
  }
}
