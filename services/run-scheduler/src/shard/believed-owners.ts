// Which other node owns a shard, by the nodes' own reports over their links. Only a belief: it chooses whom to ask.
import type { ShardEpoch } from './shard-lease.ts';

interface Belief {
  readonly nodeId: string;
  readonly epoch: number;
}

export class BelievedOwners {
  private readonly beliefs: (Belief | undefined)[];

  constructor(private readonly shardCount: number) {
    this.beliefs = new Array<Belief | undefined>(shardCount).fill(undefined);
  }

  /** `whole`: the node owns nothing but these. A report with a lower epoch than known is old and ignored. */
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
