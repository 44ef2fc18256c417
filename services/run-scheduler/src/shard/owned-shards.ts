// The shards that this node believes to own, each with its epoch; the shard for the next new run; and the nodes that it
// believes to own the others.
import type { ShardEpoch } from './shard-lease.ts';

export class OwnedShards {
  private readonly epochs = new Map<number, number>();
  /** Shards about to be given away: still owned, but nothing new begins there. */
  private readonly leaving = new Set<number>();
  private turnOrder: number[] = [];
  private turn = 0;

  get size(): number {
    return this.epochs.size;
  }

  epochOf(shard: number): number | null {
    return this.epochs.get(shard) ?? null;
  }

  shards(): number[] {
    return [...this.epochs.keys()].sort((a, b) => a - b);
  }

  entries(shards: Iterable<number> = this.shards()): ShardEpoch[] {
    const entries: ShardEpoch[] = [];
    for (const shard of shards) {
      const epoch = this.epochs.get(shard);
      if (epoch !== undefined) entries.push({ shard, epoch });
    }
    return entries;
  }

  /** Adds shards, or a new epoch of an owned one. */
  add(taken: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of taken) this.epochs.set(shard, epoch);
    this.reorder();
  }

  markLeaving(shards: readonly number[]): void {
    for (const shard of shards) this.leaving.add(shard);
    this.reorder();
  }

  /** Drops the shards still held under this epoch or a lower one, and returns them. */
  drop(lost: readonly ShardEpoch[]): ShardEpoch[] {
    const dropped: ShardEpoch[] = [];
    for (const { shard, epoch } of lost) {
      const held = this.epochs.get(shard);
      if (held === undefined || held > epoch) continue;
      this.epochs.delete(shard);
      this.leaving.delete(shard);
      dropped.push({ shard, epoch: held });
    }
    if (dropped.length > 0) this.reorder();
    return dropped;
  }

  /** Returns the next shard for a new run, or null when there is none. */
  next(): number | null {
    if (this.turnOrder.length === 0) return null;
    this.turn = (this.turn + 1) % this.turnOrder.length;
    return this.turnOrder[this.turn] ?? null;
  }

  private reorder(): void {
    this.turnOrder = this.shards().filter((shard) => !this.leaving.has(shard));
  }
}

interface Belief {
  readonly nodeId: string;
  readonly epoch: number;
}

/**
 * Which other node owns a shard, by the nodes' own reports over their links. It may be wrong: it only decides which
 * node to ask.
 */
export class BelievedOwners {
  private readonly beliefs: (Belief | undefined)[];

  constructor(private readonly shardCount: number) {
    this.beliefs = new Array<Belief | undefined>(shardCount).fill(undefined);
  }

  /** `whole`: the node owns no other shards. A report with a lower epoch than the known one is old and ignored. */
  taken(nodeId: string, shards: readonly ShardEpoch[], whole: boolean): void {
    if (whole) this.forget(nodeId);
    for (const { shard, epoch } of shards) {
      if (shard >= this.shardCount) continue;
      const known = this.beliefs[shard];
      if (!known || known.epoch <= epoch) this.beliefs[shard] = { nodeId, epoch };
    }
  }

  released(nodeId: string, shards: readonly number[]): void {
    for (const shard of shards) if (this.beliefs[shard]?.nodeId === nodeId) this.beliefs[shard] = undefined;
  }

  forget(nodeId: string): void {
    this.released(nodeId, [...this.beliefs.keys()]);
  }

  ownerOf(shard: number): string | null {
    return this.beliefs[shard]?.nodeId ?? null;
  }
}
