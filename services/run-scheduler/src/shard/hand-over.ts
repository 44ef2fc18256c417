// Gives shards away in order: their users finish first, then the row is released, then the next owner is notified.
// After a shard is dropped here, its release is repeated until Postgres has it; otherwise this node would seem its
// owner for as long as it lives.
import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/database-fault';
import type { OwnedShards } from './owned-shards.ts';
import type { ShardEpoch, ShardLease } from './shard-lease.ts';

export interface HandOverOptions {
  readonly lease: ShardLease;
  readonly owned: OwnedShards;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Owned shards that another node should have and is ready to take. */
  readonly leaving: () => readonly number[];
  /** Lets the users of these shards finish. */
  readonly finish: (shards: number[]) => Promise<void>;
  /** Called when these shards are free. */
  readonly onReleased: (shards: readonly number[]) => void;
}

// The longest wait for users of shards; the fence makes a longer use safe.
const FINISH_MS = 2_000;
// No further try to release begins after this.
const STOP_MS = 1_000;

export class HandOver {
  private readonly backoff = new Backoff({ firstMs: 50, maxMs: 1_000, jitter: 0.5 });
  private readonly unreleased = new Map<number, number>();
  private running: Promise<void> | null = null;
  private again = false;
  private stopping = false;

  constructor(private readonly options: HandOverOptions) {}

  wake(): void {
    if (this.stopping) return;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = this.rounds().finally(() => {
      this.running = null;
      if (this.again) this.wake();
    });
  }

  /** Adds rows that name this node although it no longer holds the shards. */
  releaseAlso(entries: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of entries) this.unreleased.set(shard, epoch);
    this.wake();
  }

  /** Reports whether this shard is being given away. */
  releasing(shard: number): boolean {
    return this.unreleased.has(shard);
  }

  /**
   * Gives all shards away. Resolves even if Postgres is unavailable: the other nodes then wait until this node is gone.
   */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await this.letGo(this.options.owned.shards());
    const untilMs = this.options.clock.monotonicMs() + STOP_MS;
    while (this.unreleased.size > 0 && !(await this.release())) {
      if (this.options.clock.monotonicMs() > untilMs) return;
      await this.wait();
    }
  }

  private async rounds(): Promise<void> {
    do {
      this.again = false;
      await this.letGo(this.options.leaving());
      while (this.unreleased.size > 0 && !(await this.release()) && !this.stopping) await this.wait();
    } while (this.again && !this.stopping);
  }

  private async letGo(shards: readonly number[]): Promise<void> {
    const { owned, finish, clock, logger } = this.options;
    if (shards.length === 0) return;
    owned.markLeaving(shards);
    const finished = finish([...shards]).catch((error: unknown) => logger.error({ error }, 'shards still in use'));
    await new Promise<void>((resolve) => {
      const timer = clock.after(FINISH_MS, () => {
        logger.warn({ shards: shards.length }, 'shards given away while in use');
        resolve();
      });
      void finished.then(() => {
        timer.cancel();
        resolve();
      });
    });
    // Some may have been lost meanwhile.
    const given: ShardEpoch[] = owned.drop(owned.entries(shards));
    for (const { shard, epoch } of given) this.unreleased.set(shard, epoch);
  }

  private async release(): Promise<boolean> {
    const { lease, logger, onReleased } = this.options;
    const entries = [...this.unreleased].map(([shard, epoch]) => ({ shard, epoch }));
    try {
      const released = await lease.release(entries);
      // A shard that was not released has another epoch by now: a node took it, perhaps this one.
      for (const { shard, epoch } of entries) if (this.unreleased.get(shard) === epoch) this.unreleased.delete(shard);
      this.backoff.reset();
      if (released.length > 0) onReleased(released);
      return true;
    } catch (error) {
      logger.warn({ ...safeDbError(error) }, 'shards not released');
      return false;
    }
  }

  private wait(): Promise<void> {
    return new Promise((resolve) => {
      this.options.clock.after(this.backoff.nextMs(), resolve);
    });
  }
}
