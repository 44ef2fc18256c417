// Refuses requests beyond the rate of their key, person or upload, or of their organization, before any work for them,
// and reports in headers how many are left.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { type BucketState, type TakenTokens, TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callerOf } from './caller.ts';

export interface RateLimitOptions {
  /** Requests a second; 0: no limit. */
  readonly rateLimitPerKey: number;
  readonly rateLimitPerOrganization: number;
  readonly clock: Clock;
}

interface Limited {
  readonly burst: number;
  readonly share: 'key' | 'organization';
}

interface Taken extends BucketState, Limited {}

export interface TakenMore extends TakenTokens, Limited {}

/** One for all surfaces: all requests of a caller count together. */
export class RateLimit {
  private readonly keys: TokenBuckets | null;
  private readonly organizations: TokenBuckets | null;

  constructor({ rateLimitPerKey, rateLimitPerOrganization, clock }: RateLimitOptions) {
    this.keys = bucketsOf(rateLimitPerKey, clock);
    this.organizations = bucketsOf(rateLimitPerOrganization, clock);
  }

  /**
   * Returns the bucket that the headers describe: the one that refuses, else the one with less left. Null: there is no
   * limit.
   */
  take(caller: Caller): Taken | null {
    const ofKey = taken('key', this.keys, callerId(caller));
    // A refused request of one key costs the others of its organization nothing.
    if (ofKey?.allowed === false) return ofKey;
    const ofOrganization = taken('organization', this.organizations, caller.orgId);
    if (ofKey === null || ofOrganization === null) return ofKey ?? ofOrganization;
    return ofOrganization.allowed && ofKey.remaining <= ofOrganization.remaining ? ofKey : ofOrganization;
  }

  /**
   * For a request that counts as several: takes as many of `count` more as both buckets have. Null: there is no limit.
   */
  takeMore(caller: Caller, count: number): TakenMore | null {
    const { keys, organizations } = this;
    const ofKey = keys && { ...keys.takeUpTo(callerId(caller), count), burst: keys.burst, share: 'key' as const };
    if (organizations === null) return ofKey;
    const more = organizations.takeUpTo(caller.orgId, ofKey?.taken ?? count);
    const ofOrganization = { ...more, burst: organizations.burst, share: 'organization' as const };
    return ofKey !== null && ofKey.taken <= more.taken && ofKey.remaining <= more.remaining ? ofKey : ofOrganization;
  }
}

function bucketsOf(perSecond: number, clock: Clock): TokenBuckets | null {
  return perSecond === 0 ? null : new TokenBuckets({ clock, perSecond, burst: 2 * perSecond });
}

function taken(share: Taken['share'], buckets: TokenBuckets | null, key: string): Taken | null {
  return buckets && { ...buckets.take(key), burst: buckets.burst, share };
}

/** For the routes of `scope`, which has callers. */
export function addRateLimit(scope: FastifyInstance, limit: RateLimit | null): void {
  if (limit === null) return;
  scope.addHook('onRequest', (request, reply, done) => {
    const state = limit.take(callerOf(request));
    if (state === null) return done();
    tellLimit(reply, state);
    done(state.allowed ? undefined : rateLimited(state));
  });
}

export function tellLimit(
  reply: FastifyReply,
  { burst, remaining, fullMs }: Pick<Taken, 'burst' | 'remaining' | 'fullMs'>,
) {
  reply.header('ratelimit-limit', burst);
  reply.header('ratelimit-remaining', remaining);
  reply.header('ratelimit-reset', Math.ceil(fullMs / 1_000));
}

export function rateLimited({ waitMs, share }: Pick<Taken, 'waitMs' | 'share'>): ServiceError {
  return new ServiceError('rate_limited', undefined, { retryAfterMs: waitMs, facts: { share } });
}
