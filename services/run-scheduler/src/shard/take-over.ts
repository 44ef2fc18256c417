// Takes the shards that this node should own as soon as they are free: one transaction at a time, again at once when
// something changed, else about once a second while one is missing.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/database-fault';
import type { Presence } from './membership.ts';
import type { ShardEpoch, ShardLease } from './shard-lease.ts';

export interface TakeOverOptions {
  readonly lease: ShardLease;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Shards that this node should own, does not own, and may try to take now. */
  readonly wanted: () => readonly number[];
  /** Reports whether there are shards that it should own and does not, even if it must not try now. */
  readonly missing: () => boolean;
  /** Null: not known yet, so nothing may be taken. */
  readonly presence: () => Presence | null;
  readonly onTaken: (taken: readonly ShardEpoch[]) => void;
}

// Large enough for the whole share of a node in one or two transactions, small enough that one locked row delays few
// others.
const CHUNK = 64;
const POLL_MS = 1_000;

export class TakeOver {
  private readonly poll = new Backoff({ firstMs: POLL_MS, maxMs: POLL_MS });
  private readonly afterFault = new Backoff({ firstMs: 50, maxMs: POLL_MS, jitter: 0.5 });
  private timer: Timer | null = null;
  private running: Promise<void> | null = null;
  private again = false;
  private stopped = false;

  constructor(private readonly options: TakeOverOptions) {}

  /** Reports whether a transaction may be in flight. */
  get busy(): boolean {
    return this.running !== null;
  }

  /** Something changed: tries now, or right after the present round. */
  wake(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    this.timer = null;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = this.rounds().finally(() => {
      this.running = null;
      if (this.again) this.wake();
    });
  }

  /** Takes nothing after this has resolved. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private async rounds(): Promise<void> {
    let waitMs: number;
    do {
      this.again = false;
      try {
        await this.round();
        this.afterFault.reset();
        waitMs = this.poll.nextMs();
      } catch (error) {
        waitMs = this.afterFault.nextMs();
        this.options.logger.warn({ ...safeDbError(error) }, 'shards not taken');
        break;
      }
    } while (this.again && !this.stopped);
    if (this.stopped || !this.options.missing()) return;
    this.timer = this.options.clock.after(waitMs, () => this.wake());
  }

  private async round(): Promise<void> {
    const { lease, wanted, presence, onTaken } = this.options;
    const shards = [...wanted()];
    for (let from = 0; from < shards.length && !this.stopped; from += CHUNK) {
      const nodes = presence();
      if (!nodes) return;
      // The wanted shards may have changed during the previous chunk.
      const still = new Set(wanted());
      const chunk = shards.slice(from, from + CHUNK).filter((shard) => still.has(shard));
      if (chunk.length === 0) continue;
      const taken = await lease.take(chunk, nodes);
      if (taken.length > 0) onTaken(taken);
    }
  }
}
