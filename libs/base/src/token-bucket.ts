// Limits how fast each key may ask: a bucket of tokens for each key, filled steadily, one token for each request.
import type { Clock } from './clock.ts';

export interface BucketState {
  readonly allowed: boolean;
  /** Whole tokens left after this request. */
  readonly remaining: number;
  /** The time until one token is available, in ms; 0 when there is one. */
  readonly waitMs: number;
  /** The time until the bucket is full again, in ms. */
  readonly fullMs: number;
}

export interface TakenTokens extends Omit<BucketState, 'allowed'> {
  readonly taken: number;
}

export interface TokenBucketsOptions {
  readonly clock: Clock;
  /** Tokens a second. */
  readonly perSecond: number;
  /** A full bucket. */
  readonly burst: number;
  /** How many keys are remembered; default: 100,000. */
  readonly bucketsMax?: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const BUCKETS_MAX = 100_000;

export class TokenBuckets {
  // In the order of their last use.
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly options: TokenBucketsOptions) {}

  /** Tokens of a full bucket. */
  get burst(): number {
    return this.options.burst;
  }

  take(key: string): BucketState {
    const { taken, ...state } = this.takeUpTo(key, 1);
    return { allowed: taken === 1, ...state };
  }

  /** Takes as many of `count` tokens as there are. */
  takeUpTo(key: string, count: number): TakenTokens {
    const { clock, perSecond, burst } = this.options;
    const nowMs = clock.monotonicMs();
    const bucket = this.bucketOf(key, nowMs);
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * perSecond) / 1_000);
    bucket.atMs = nowMs;
    const taken = Math.min(count, Math.floor(bucket.tokens));
    bucket.tokens -= taken;
    const waitMs = bucket.tokens >= 1 ? 0 : ((1 - bucket.tokens) * 1_000) / perSecond;
    return {
      taken,
      remaining: Math.floor(bucket.tokens),
      waitMs,
      fullMs: ((burst - bucket.tokens) * 1_000) / perSecond,
    };
  }

  private bucketOf(key: string, nowMs: number): Bucket {
    const known = this.buckets.get(key);
    if (known) this.buckets.delete(key);
    else this.makeRoom(nowMs);
    const bucket = known ?? { tokens: this.options.burst, atMs: nowMs };
    this.buckets.set(key, bucket);
    return bucket;
  }

  // A bucket that is full again can be dropped; if all are in use, the least recently used one is.
  private makeRoom(nowMs: number): void {
    const { burst, perSecond, bucketsMax = BUCKETS_MAX } = this.options;
    const fillMs = (burst * 1_000) / perSecond;
    for (const [key, { atMs }] of this.buckets) {
      if (this.buckets.size < bucketsMax && nowMs - atMs <= fillMs) return;
      this.buckets.delete(key);
    }
  }
}
