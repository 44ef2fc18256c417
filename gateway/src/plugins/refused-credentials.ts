// How many bad credentials an address may show. Beyond that it hears 429 in place of 401, so that a program with a dead
// key, or one that tries out keys, is told to slow down. Good credentials are let in from the same address all the time:
// many people share one, and one of them must not be able to shut the others out.
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { CallerRefused } from '../callers/caller-refused.ts';
import { countedAddress } from './counted-address.ts';

const BAD_CREDENTIALS = { perSecond: 1, burst: 60 };

export class RefusedCredentials {
  private readonly buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.buckets = new TokenBuckets({ clock, ...BAD_CREDENTIALS });
  }

  /** What to tell whoever was refused. Who shows nothing at all tries nothing: that is how clients begin. */
  answerTo(ip: string, refused: CallerRefused): ServiceError {
    if (refused.code !== 'unauthorized' || refused.reason === 'no_credential') return refused;
    const { allowed, waitMs } = this.buckets.take(countedAddress(ip));
    if (allowed) return refused;
    const message = 'Too many bad credentials came from this address.';
    return new ServiceError('rate_limited', message, { retryAfterMs: waitMs });
  }
}
