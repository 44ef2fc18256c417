// What the parts of a node do when it takes shards from other nodes, and when it loses them.
import { inject, injectable } from 'tsyringe';
import { Committer } from '../actor/committer.ts';
import { RunActors } from '../actor/run-actors.ts';
import { EventRelay } from '../bus/event-relay.ts';
import { NodeBus } from '../bus/node-bus.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import { PostgresRunStore } from '../store/postgres-run-store.ts';
import { DueQuestions } from '../timer/due-questions.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { LeaseRecovery } from '../worker-stream/lease-recovery.ts';

@injectable()
export class ShardMoves {
  constructor(
    @inject(NodeBus) private readonly nodeBus: NodeBus,
    @inject(PostgresRunStore) private readonly store: PostgresRunStore,
    @inject(Committer) private readonly committer: Committer,
    @inject(RunActors) private readonly actors: RunActors,
    @inject(ReadyRuns) private readonly ready: ReadyRuns,
    @inject(LeaseKeeper) private readonly keeper: LeaseKeeper,
    @inject(DueQuestions) private readonly due: DueQuestions,
    @inject(EventRelay) private readonly relay: EventRelay,
    @inject(LeaseRecovery) private readonly recovery: LeaseRecovery,
  ) {}

  /** Actors of an earlier ownership hold an old epoch. */
  async taken(taken: readonly ShardEpoch[]): Promise<void> {
    const { nodeBus, actors, ready, due, relay, recovery } = this;
    const shards = taken.map(({ shard }) => shard);
    nodeBus.own(taken);
    actors.dropShards(new Set(shards));
    ready.reset();
    due.look();
    relay.taken(shards);
    await recovery.taken(shards);
  }

  lost(shards: readonly number[]): void {
    const { nodeBus, actors, keeper, store, relay, ready } = this;
    const gone = new Set(shards);
    nodeBus.disown(shards);
    actors.dropShards(gone);
    keeper.leases.dropShards(gone);
    store.forget(gone);
    relay.lost(shards);
    ready.reset();
  }

  /** The commit in flight ends before another node may have the shards. */
  async releasing(shards: readonly number[]): Promise<void> {
    this.actors.dropShards(new Set(shards));
    await this.committer.idle();
    this.lost(shards);
  }
}
