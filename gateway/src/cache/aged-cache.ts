// Caches values until they are old; after that they are used only while their source is unavailable. Bounded by bytes;
// evicts the least recently used. A hit costs no promise.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { LRUCache } from 'lru-cache';

export interface AgedCacheOptions<Value> {
  readonly clock: Clock;
  readonly bytesMax: number;
  /** Returns how long a value stays fresh, in ms; Infinity for a value that never changes. */
  ageMsOf(value: Value): number;
  /** Estimated memory. */
  bytesOf(value: Value): number;
}

interface Entry<Value> {
  readonly value: Value;
  /** Monotonic ms; the value is loaded again from then on. */
  goodUntilMs: number;
  /** Known to be another one now: the source is asked, even if it was unavailable a moment ago. */
  changed: boolean;
}

// A value is renewed in the background in the last third of its age, so that no request waits for a value in use.
const RENEW_SHARE = 1 / 3;
const RETRY_MS = 1_000;
// A source that stalls fails a load only after its deadline of seconds. Meanwhile no request waits for it again.
const FAILED_MS = 10_000;

export class AgedCache<Value> {
  private readonly entries: LRUCache<string, Entry<Value>>;
  // Loads that began after the last change of their value: a caller that asks after a change does not join an earlier
  // load.
  private readonly loads = new Map<string, Promise<Value>>();
  /** When a load failed last, unless one has succeeded since. */
  private failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: AgedCacheOptions<Value>) {
    this.entries = new LRUCache({
      maxSize: options.bytesMax,
      sizeCalculation: ({ value }, key) => Math.ceil(options.bytesOf(value)) + 2 * key.length,
    });
  }

  /**
   * Returns a cached value directly, without a promise. Concurrent callers share one `load`. If it fails with
   * `unavailable`, an old value is used instead, there is no further try for a second, and the tries of the next seconds
   * are in the background.
   */
  get(key: string, load: () => Promise<Value>): Value | Promise<Value> {
    const entry = this.entries.get(key);
    if (!entry) return this.load(key, load);
    const nowMs = this.options.clock.monotonicMs();
    const sinceFailureMs = nowMs - this.failedAtMs;
    const leftMs = entry.goodUntilMs - nowMs;
    const isGood = leftMs > 0;
    if (!isGood && (entry.changed || sinceFailureMs >= FAILED_MS)) return this.load(key, load);
    const isDue = !isGood || leftMs < this.options.ageMsOf(entry.value) * RENEW_SHARE;
    if (isDue && sinceFailureMs >= RETRY_MS && !this.loads.has(key)) this.load(key, load).catch(() => {});
    return entry.value;
  }

  /** Includes expired values. */
  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** The value has changed and must not be used again. */
  drop(key: string): void {
    this.loads.delete(key);
    this.entries.delete(key);
  }

  /**
   * Like `drop`, for values that events do not identify by key. It checks every value, so it is only for rare events.
   */
  dropWhere(changed: (value: Value) => boolean): void {
    this.loads.clear();
    for (const [key, entry] of [...this.entries]) if (changed(entry.value)) this.entries.delete(key);
  }

  /**
   * The value has changed: it is loaded before its next use, and used as it is while its source is unavailable.
   */
  expire(key: string): void {
    this.loads.delete(key);
    const entry = this.entries.get(key);
    if (!entry) return;
    entry.goodUntilMs = 0;
    entry.changed = true;
  }

  /** Changes may have been missed. */
  expireAll(): void {
    this.loads.clear();
    for (const entry of this.entries.values()) entry.goodUntilMs = 0;
  }

  /**
   * The source has replied to a change with this value. It may have changed again since: as with `expire`, it is loaded
   * before its next use.
   */
  put(key: string, value: Value): void {
    this.store(key, value);
    this.expire(key);
  }

  private load(key: string, load: () => Promise<Value>): Promise<Value> {
    const running = this.loads.get(key);
    if (running) return running;
    const isCurrent = () => this.loads.get(key) === loading;
    const loading: Promise<Value> = this.loadOnce(key, load, isCurrent).finally(() => {
      if (isCurrent()) this.loads.delete(key);
    });
    this.loads.set(key, loading);
    return loading;
  }

  private async loadOnce(key: string, load: () => Promise<Value>, isCurrent: () => boolean): Promise<Value> {
    try {
      const value = await load();
      this.failedAtMs = Number.NEGATIVE_INFINITY;
      // The load may lack a change announced meanwhile: it is only valid for callers that asked before.
      if (isCurrent()) this.store(key, value);
      return value;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unavailable') {
        if (isCurrent()) this.drop(key);
        throw error;
      }
      this.failedAtMs = this.options.clock.monotonicMs();
      const entry = this.entries.get(key);
      if (!entry) throw error;
      if (isCurrent()) entry.changed = false;
      return entry.value;
    }
  }

  private store(key: string, value: Value): void {
    const goodUntilMs = this.options.clock.monotonicMs() + this.options.ageMsOf(value);
    this.entries.set(key, { value, goodUntilMs, changed: false });
  }
}
