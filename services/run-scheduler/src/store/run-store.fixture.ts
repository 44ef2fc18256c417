// A store on a database of its own, with shards 0 to 3 owned under epoch 1, and changes as the actors make them.
import { randomBytes } from 'node:crypto';
import { newId, newRunId, type RunId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import { facts } from '../run/run.fixture.ts';
import type { Run, RunFacts } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { transition } from '../run/transition.ts';
import { PostgresRunStore } from './postgres-run-store.ts';
import type { RunChange } from './run-store.ts';
import { pageSettings, writerSettings } from './scheduler-database.ts';

export const EPOCH = 1;

export class TestStore {
  private constructor(
    readonly url: string,
    readonly store: PostgresRunStore,
    readonly sql: Sql,
    /** With the planner settings of the outbox. */
    readonly outbox: Sql,
    readonly writer: Sql,
    private readonly drop: () => Promise<void>,
  ) {}

  static async open(): Promise<TestStore> {
    const { url, drop } = await migratedDatabase('run-scheduler');
    const pool = (max: number, settings: Readonly<Record<string, string>>) =>
      openPool({ url, applicationName: 'test', max, statementTimeoutMs: 60_000, settings });
    const [writer, sql, outbox] = [pool(2, writerSettings), pool(2, {}), pool(2, pageSettings)];
    await sql`insert into scheduler.shards (shard, epoch) select n, ${EPOCH} from generate_series(0, 3) n`;
    const store = new PostgresRunStore({ writer, reader: sql, commitDeadlineMs: 60_000, readDeadlineMs: 60_000 });
    return new TestStore(url, store, sql, outbox, writer, drop);
  }

  /** The store of another node on this database, without any cached state. */
  successor(): PostgresRunStore {
    const deadlines = { commitDeadlineMs: 60_000, readDeadlineMs: 60_000 };
    return new PostgresRunStore({ writer: this.writer, reader: this.sql, ...deadlines });
  }

  async close(): Promise<void> {
    await Promise.all([this.writer, this.sql, this.outbox].map((pool) => pool.end({ timeout: 1 })));
    await this.drop();
  }

  async nowMs(): Promise<number> {
    return Math.round(await this.store.clockMs());
  }

  /** Commits the changes one after the other and returns the final run. */
  async tell(before: Run | null, ...commands: readonly RunCommand[]): Promise<Run> {
    let run = before;
    for (const command of commands) {
      const change = decide(run, command, await this.nowMs());
      const { done } = await this.store.commit([change]);
      if (!done.has(change.after.facts.runId)) throw new Error(`${command.type} was not committed`);
      run = change.after;
    }
    if (run === null) throw new Error('nothing was told');
    return run;
  }

  /** Forces the server's statistics of the store's writes so far; by itself it reports them within 10 s. */
  async countWrites(): Promise<void> {
    await this.writer`select pg_stat_force_next_flush()`;
  }

  async load(runId: RunId): Promise<Run | undefined> {
    return (await this.store.load([runId])).get(runId);
  }
}

/** Facts of a new run. */
export function newFacts(shard: number, more: Partial<RunFacts> = {}): RunFacts {
  const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
  return { ...facts, runId: newRunId(shard), shard, idempotencyHash, requestDigest, ...more };
}

export function startOf(runFacts: RunFacts): RunCommand {
  return { type: 'start', facts: runFacts };
}

/** The change a command makes, numbered as the actor does it. */
export function decide(
  before: Run | null,
  command: RunCommand,
  nowMs: number,
  more: Partial<RunChange> = {},
): RunChange {
  const decision = transition(before, command, nowMs);
  if (decision.kind !== 'changed') throw new Error(`${command.type} changes nothing: ${JSON.stringify(decision)}`);
  const after = { ...decision.run, revision: (before?.revision ?? 0) + 1 };
  const { steps } = decision;
  const events = decision.effects
    .filter((effect) => effect.type === 'emit')
    .map(() => ({
      outboxId: newId('dlv'),
      orgId: after.facts.orgId,
      runId: after.facts.runId,
      shard: after.facts.shard,
      seq: after.revision,
      body: Buffer.from([0, 1, 255]),
      createdAtMs: nowMs,
    }));
  return { before, after, epoch: EPOCH, steps, events, dueMs: 0, ...more };
}
