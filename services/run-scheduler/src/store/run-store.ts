// What the run-scheduler remembers, as an interface: the actors and the simulation know only this.
import type { NewStep } from '../run/effect.ts';
import type { Run } from '../run/run.ts';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import type { QueueKey } from './queue-key.ts';

export type { QueueKey } from './queue-key.ts';

/** A change of one run, to be written whole or not at all. */
export interface RunChange {
  /** The run as it stands committed; null before its start. */
  readonly before: Run | null;
  /** Its revision is one above that of `before`. */
  readonly after: Run;
  /** Of the run's shard, as the writer believes it. */
  readonly epoch: number;
  readonly steps: readonly NewStep[];
  readonly events: readonly OutboxEvent[];
  /** Refused by the commit while the database's clock is before this; 0: no such condition. */
  readonly dueMs: number;
}

export interface OutboxEvent {
  readonly outboxId: string;
  readonly orgId: string;
  readonly runId: string;
  readonly shard: number;
  readonly seq: number;
  readonly body: Uint8Array;
  readonly createdAtMs: number;
}

export interface BatchOutcome {
  /** Shards whose epoch held; changes of others did not happen. */
  readonly heldShards: ReadonlySet<number>;
  /** Runs whose change happened. */
  readonly done: ReadonlySet<string>;
  /** The database's clock at the end of the statement. */
  readonly nowMs: number;
}

export interface QueueEntry {
  readonly runId: string;
  readonly shard: number;
  /** When the run was queued first: its place, which it keeps. */
  readonly queuedAtMs: number;
}

/** What one look at a queue found. */
export interface QueueStretch {
  readonly entries: readonly QueueEntry[];
  /** What comes after this was not looked at; null: the queue has nothing after these entries. */
  readonly end: QueueCursor | null;
}

export interface DueQuestion {
  readonly runId: string;
  readonly orgId: string;
  /** Empty: a sleeping run's time. */
  readonly questionId: string;
  readonly shard: number;
  readonly wakeAtMs: number;
  /** About what its run takes in memory; 0: not known. */
  readonly bytes: number;
}

/** A place among all deadlines. */
export type DuePlace = Pick<DueQuestion, 'wakeAtMs' | 'runId'>;

export interface DueStretch {
  readonly questions: readonly DueQuestion[];
  /** What comes after this was not looked at; null: nothing is due after these questions. */
  readonly end: DuePlace | null;
}

/** What a take-over needs of a running run: its inputs and steps are read when something happens to it. */
export interface TakenRun {
  readonly runId: string;
  readonly orgId: string;
  readonly shard: number;
  readonly revision: number;
  readonly token: string;
  readonly workerSession: string;
  readonly cancelRequested: boolean;
}

export interface KeptStep {
  readonly path: string;
  readonly status: string;
  readonly outJson: string | null;
  readonly outWithheld: boolean;
}

export interface RunPlace {
  readonly orgId: string;
  readonly revision: number;
}

export interface RunStore {
  /** One fenced statement; throws when the outcome is unknown or the statement was refused whole. */
  commit(batch: readonly RunChange[]): Promise<BatchOutcome>;
  /** Runs that are there, by run id. Whose they are is for the caller to compare. */
  load(runIds: readonly string[]): Promise<Map<string, Run>>;
  /** Where runs are that are there, by run id: what a look at a run costs that did not change. */
  places(runIds: readonly string[]): Promise<Map<string, RunPlace>>;
  /** The run a key belongs to, by `<org id>/<hex of the hash>`. */
  loadByKey(keys: readonly { orgId: string; idempotencyHash: Uint8Array }[]): Promise<Map<string, Run>>;
  /** Finished steps with their outs, in order, for a run that goes on. */
  keptSteps(orgId: string, runId: string): Promise<KeptStep[]>;
  /** The same of many runs, by run id. Those that hold too much for one statement are missing. */
  keptStepsOf(runs: readonly { orgId: string; runId: string }[]): Promise<Map<string, KeptStep[]>>;
  /** What a step gave, or noted when it began; null: nothing. */
  outOfStep(orgId: string, runId: string, path: string): Promise<string | null>;
  /** Running runs of shards just taken. */
  runningOf(shards: readonly ShardEpoch[]): Promise<TakenRun[]>;
  /** Another node has these shards: what is kept in memory of their running runs is of no use. */
  forget(shards: ReadonlySet<number>): void;
  /** The oldest entry of each of these queues that is of the shards given, in their order, by one statement. */
  queueHeads(queues: readonly QueueKey[], shards: readonly number[]): Promise<QueueStretch[]>;
  /** The next entries of a queue after a cursor, oldest first, of the shards given. */
  queuePage(queue: QueueKey, after: QueueCursor, shards: readonly number[], limit: number): Promise<QueueStretch>;
  /** The next deadlines of questions and sleeping runs after a place and before `untilMs`, of the shards given. */
  dueQuestions(shards: readonly number[], untilMs: number, after: DuePlace): Promise<DueStretch>;
  /** Unfinished runs of these organizations; those without any are missing. */
  unfinished(orgIds: readonly string[]): Promise<Map<string, number>>;
  /** The database's clock in ms. */
  clockMs(): Promise<number>;
}

export interface QueueCursor {
  readonly queuedAtMs: number;
  readonly runId: string;
}
