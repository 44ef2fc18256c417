// Settles commits without a reply: taking a new epoch for their shards on another connection waits for the old
// statement, and fences what is left of it.
import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/database-fault';
import type { OwnedShards } from './owned-shards.ts';
import type { ShardEpoch, ShardLease } from './shard-lease.ts';

export interface EpochBumpsOptions {
  readonly lease: ShardLease;
  readonly owned: OwnedShards;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface BumpOutcome {
  readonly kept: readonly ShardEpoch[];
  /** With the epochs under which they were held. */
  readonly lost: readonly ShardEpoch[];
  /** Given away meanwhile, although their rows still name this node. */
  readonly orphaned: readonly ShardEpoch[];
}

// After this the shards are given up; taking them again later settles the same question.
const DECIDE_MS = 10_000;

export class EpochBumps {
  private last: Promise<unknown> = Promise.resolve();
  private underWay = 0;

  constructor(private readonly options: EpochBumpsOptions) {}

  get busy(): boolean {
    return this.underWay > 0;
  }

  /** Runs one after the other: two for the same shard would each see the other as another owner. Never rejects. */
  run(shards: readonly number[]): Promise<BumpOutcome> {
    this.underWay++;
    const outcome = this.last.then(() => this.bump(shards));
    this.last = outcome;
    return outcome.finally(() => {
      this.underWay--;
    });
  }

  private async bump(shards: readonly number[]): Promise<BumpOutcome> {
    const { owned } = this.options;
    const held = owned.entries(shards);
    if (held.length === 0) return { kept: [], lost: [], orphaned: [] };
    const bumped = new Map((await this.decide(held)).map(({ shard, epoch }) => [shard, epoch]));
    const kept: ShardEpoch[] = [];
    const lost: ShardEpoch[] = [];
    const orphaned: ShardEpoch[] = [];
    for (const { shard, epoch } of held) {
      const newEpoch = bumped.get(shard);
      const now = owned.epochOf(shard);
      if (newEpoch === undefined) lost.push({ shard, epoch });
      else if (now === epoch) kept.push({ shard, epoch: newEpoch });
      else if (now === null) orphaned.push({ shard, epoch: newEpoch });
    }
    owned.add(kept);
    return { kept, lost, orphaned };
  }

  private async decide(held: readonly ShardEpoch[]): Promise<ShardEpoch[]> {
    const { lease, clock, logger } = this.options;
    const backoff = new Backoff({ firstMs: 50, maxMs: 1_000, jitter: 0.5 });
    const untilMs = clock.monotonicMs() + DECIDE_MS;
    for (;;) {
      try {
        return await lease.bump(held);
      } catch (error) {
        logger.warn({ ...safeDbError(error) }, 'epochs not renewed');
        if (clock.monotonicMs() >= untilMs) return [];
      }
      await new Promise<void>((resolve) => {
        clock.after(backoff.nextMs(), resolve);
      });
    }
  }
}
