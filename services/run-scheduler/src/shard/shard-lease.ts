// The rows that decide which node may write a shard's runs. The node whose epoch is in the row holds the lease: taking
// it adds one to the epoch, and from then on every commit under the old one is refused. No clock is used.
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql, TransactionSql } from '@methods/postgres/pool';
import type { Presence } from './membership.ts';

const UNHEARD = '10 seconds';

export interface ShardEpoch {
  readonly shard: number;
  readonly epoch: number;
}

export class ShardCountMismatch extends Error {
  override readonly name = 'ShardCountMismatch';
}

export interface ShardLeaseOptions {
  readonly sql: Sql;
  readonly nodeId: string;
  /** How long one transaction may wait for another's row locks. */
  readonly lockTimeoutMs?: number;
  /** How long a call may take in total, including the wait for a connection. */
  readonly deadlineMs?: number;
}

export class ShardLease {
  private readonly sql: Sql;
  private readonly nodeId: string;
  private readonly lockTimeoutMs: number;
  private readonly deadlineMs: number;

  constructor({ sql, nodeId, lockTimeoutMs = 1_000, deadlineMs = 4_000 }: ShardLeaseOptions) {
    this.sql = sql;
    this.nodeId = nodeId;
    this.lockTimeoutMs = lockTimeoutMs;
    this.deadlineMs = deadlineMs;
  }

  /** Creates the rows of a new database. Their number is fixed from then on, since run ids name their shard. */
  async ensureShards(shardCount: number): Promise<void> {
    const existing = await this.transaction(async (tx) => {
      // Two nodes may find an empty table at once. Commits, which only read this table, continue.
      await tx`lock table scheduler.shards in share row exclusive mode`;
      const [row] = await tx<{ count: number }[]>`select count(*)::int as count from scheduler.shards`;
      if (row?.count === 0) {
        await tx`insert into scheduler.shards (shard, listed_epoch) select n, 0 from generate_series(0, ${shardCount - 1}::int) n`;
        return shardCount;
      }
      return row?.count ?? 0;
    });
    if (existing !== shardCount) {
      throw new ShardCountMismatch(
        `This database has ${existing} shards, not ${shardCount}: the number is fixed when a database is made.`,
      );
    }
  }

  /**
   * Takes those of the shards that are free: never owned, released, this node's own from before, or owned by a node
   * that is gone. An unknown owner is gone only if its row of beats is old or missing, since it may have started a
   * moment ago. The other shards are unchanged.
   */
  take(shards: readonly number[], { alive, gone }: Presence): Promise<ShardEpoch[]> {
    return this.transaction(async (tx) => {
      // Locked in the order in which commits lock them; a plain bulk update deadlocks with commits.
      const free = await tx<{ shard: number }[]>`
        select shard from scheduler.shards
         where shard = any(${[...shards]}::smallint[])
           and (released or owner is null or owner = ${this.nodeId} or owner = any(${[...gone]}::text[])
                or owner <> all(${[...alive]}::text[])
                   and not exists (select from scheduler.nodes
                                    where node_id = owner and seen_at > clock_timestamp() - ${UNHEARD}::interval))
         order by shard for update`;
      if (free.length === 0) return [];
      const taken = await tx<ShardEpoch[]>`
        update scheduler.shards set epoch = epoch + 1, owner = ${this.nodeId}, released = false,
               listed_epoch = listed_epoch + (listed_epoch = epoch)::int
         where shard = any(${free.map(({ shard }) => shard)}::smallint[])
        returning shard, epoch`;
      return leasesOf(taken);
    });
  }

  /** Frees those of the shards whose epoch is still the given one, and returns them. Safe to repeat. */
  release(held: readonly ShardEpoch[]): Promise<number[]> {
    return this.transaction(async (tx) => {
      const mine = await this.lockHeld(tx, held);
      if (mine.length === 0) return [];
      await tx`update scheduler.shards set released = true where shard = any(${mine}::smallint[])`;
      return mine;
    });
  }

  /**
   * Adds one to the epoch of those shards whose epoch is still the given one; the others are lost. It waits for every
   * statement under the old epoch, so that afterwards its outcome is decided and can be read.
   */
  bump(held: readonly ShardEpoch[]): Promise<ShardEpoch[]> {
    return this.transaction(async (tx) => {
      const mine = await this.lockHeld(tx, held);
      if (mine.length === 0) return [];
      const bumped = await tx<ShardEpoch[]>`
        update scheduler.shards set epoch = epoch + 1, listed_epoch = listed_epoch + (listed_epoch = epoch)::int
         where shard = any(${mine}::smallint[]) returning shard, epoch`;
      return leasesOf(bumped);
    });
  }

  /** Returns the shards that the database assigns to this node and that are not released. */
  async mine(): Promise<ShardEpoch[]> {
    const query = this.sql<ShardEpoch[]>`
      select shard, epoch from scheduler.shards where owner = ${this.nodeId} and not released order by shard`;
    return leasesOf(await withDeadline(query, this.deadlineMs));
  }

  private async lockHeld(tx: TransactionSql, held: readonly ShardEpoch[]): Promise<number[]> {
    const rows = await tx<{ shard: number }[]>`
      select shard from scheduler.shards
       where (shard, epoch) in (
               select * from unnest(${held.map(({ shard }) => shard)}::smallint[],
                                    ${held.map(({ epoch }) => epoch)}::bigint[]))
         and owner = ${this.nodeId} and not released
       order by shard for update`;
    return rows.map(({ shard }) => shard);
  }

  // A call that passed its deadline may still commit: the next `take` of this node counts its own rows as free.
  private transaction<T>(work: (tx: TransactionSql) => Promise<T>): Promise<T> {
    const transaction = this.sql.begin(async (tx) => {
      await tx`
        select set_config('lock_timeout', ${String(this.lockTimeoutMs)}, true),
               set_config('statement_timeout', ${String(this.lockTimeoutMs * 2)}, true)`;
      return work(tx);
    });
    return withDeadline(transaction, this.deadlineMs) as Promise<T>;
  }
}

/** Plain values in the order of shards. */
function leasesOf(rows: readonly ShardEpoch[]): ShardEpoch[] {
  return rows.map(({ shard, epoch }) => ({ shard, epoch })).sort((a, b) => a.shard - b.shard);
}
