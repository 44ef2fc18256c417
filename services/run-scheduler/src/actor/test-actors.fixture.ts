// One node's actors and committer on a real database, without the rest of a node. It owns the shards 0 to 3.
import { type Clock, systemClock } from '@methods/base/clock';
import { randomToken } from '@methods/base/ids';
import { type Logger, silentLogger } from '@methods/logging/logger';
import { runEvent } from '../bus/run-event.ts';
import { isOfQuestion } from '../run/decision.ts';
import type { Run, RunFacts } from '../run/run.ts';
import type { ClaimRun, RunCommand } from '../run/run-command.ts';
import { ShardLease } from '../shard/shard-lease.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { EPOCH, newFacts, TestStore } from '../store/run-store.fixture.ts';
import type { BatchOutcome, RunChange, RunStore } from '../store/run-store.ts';
import { Committer } from './committer.ts';
import type { TellOutcome } from './run-actor.ts';
import { RunActors } from './run-actors.ts';

const NODE = 'node_test';

export class TestActors {
  readonly epochs = new Map([0, 1, 2, 3].map((shard) => [shard, EPOCH]));
  readonly bumped: (readonly number[])[] = [];
  readonly batches: (readonly RunChange[])[] = [];
  readonly databaseClock = new DatabaseClock(systemClock);
  readonly committer: Committer;
  readonly actors: RunActors;
  readonly store: RunStore;
  /** Between the committer and the database: a test delays, loses or breaks commits here. */
  between: (commit: () => Promise<BatchOutcome>, batch: readonly RunChange[]) => Promise<BatchOutcome> = (commit) =>
    commit();
  /** Called with the name of each read of the store as it begins. */
  reading: (name: string) => void = () => {};
  /** Of endpoints. */
  readonly taken = new Set<string>();
  private readonly lease: ShardLease;

  private constructor(
    readonly db: TestStore,
    logger: Logger,
    clock: Clock,
  ) {
    this.lease = new ShardLease({ sql: db.sql, nodeId: NODE });
    this.store = this.watched(db.store);
    this.committer = new Committer({
      store: this.store,
      shards: {
        epochOf: (shard) => this.epochs.get(shard) ?? null,
        lost: (list) => this.lose(list.map(({ shard }) => shard)),
        bump: (list) => this.bump(list),
      },
      clock: systemClock,
      databaseClock: this.databaseClock,
      logger,
    });
    this.actors = new RunActors({
      store: this.store,
      committer: this.committer,
      databaseClock: this.databaseClock,
      clock,
      shardCount: 4,
      owns: (shard) => this.epochs.has(shard),
      isHeard: ({ webhookUrl }, event) => isOfQuestion(event) || webhookUrl !== null || this.taken.has(event),
      eventFor: (run, effect) => runEvent(run, effect),
      logger,
    });
  }

  /**
   * Resets its shards to their first epoch, even if an earlier node used this database. `clock`: for idle actors, and
   * for actors that read a row again.
   */
  static async on(db: TestStore, logger: Logger = silentLogger, clock: Clock = systemClock): Promise<TestActors> {
    await db.sql`update scheduler.shards set epoch = ${EPOCH}, owner = ${NODE}, released = false`;
    const node = new TestActors(db, logger, clock);
    node.databaseClock.observe(await db.nowMs());
    return node;
  }

  /** Makes the node believe that it no longer owns these shards. */
  lose(shards: readonly number[]): void {
    for (const shard of shards) this.epochs.delete(shard);
    this.actors.dropShards(new Set(shards));
  }

  /** Another node takes the shard without notifying this one. */
  async takenElsewhere(shard: number): Promise<void> {
    await this.db.sql`update scheduler.shards set epoch = epoch + 1, owner = 'node_other' where shard = ${shard}`;
  }

  async started(more: Partial<RunFacts> = {}, claim: ClaimRun | null = null): Promise<Run> {
    const outcome = await this.actors.startRun(newFacts(more.shard ?? 0, more), claim);
    if (outcome.kind !== 'started') throw new Error(`not started: ${JSON.stringify(outcome)}`);
    return outcome.run;
  }

  async running(more: Partial<RunFacts> = {}, workerSession = 'worker.1'): Promise<Run & { token: string }> {
    const token = randomToken();
    const run = await this.started(more, { type: 'claim', token, workerSession, cleansUp: true });
    return { ...run, token };
  }

  tell(run: Pick<Run, 'facts'>, command: RunCommand): Promise<TellOutcome> {
    return this.actors.tell(run.facts.orgId, run.facts.runId, command);
  }

  private watched(store: RunStore): RunStore {
    const commit = (batch: readonly RunChange[]) => {
      this.batches.push(batch);
      return this.between(() => store.commit(batch), batch);
    };
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'commit') return commit;
        this.reading(String(name));
        return Reflect.get(target, name).bind(target);
      },
    });
  }

  private async bump(list: readonly number[]): Promise<void> {
    this.bumped.push(list);
    const held = list.flatMap((shard) => {
      const epoch = this.epochs.get(shard);
      return epoch === undefined ? [] : [{ shard, epoch }];
    });
    const kept = new Map((await this.lease.bump(held)).map(({ shard, epoch }) => [shard, epoch]));
    for (const [shard, epoch] of kept) this.epochs.set(shard, epoch);
    this.lose(list.filter((shard) => !kept.has(shard)));
  }
}
