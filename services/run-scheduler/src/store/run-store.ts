// The run-scheduler's storage as an interface: everything that the actors know of it.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { NewStep } from '../run/decision.ts';
import type { Run } from '../run/run.ts';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import type { QueueKey } from './queue-key.ts';

export type { QueueKey } from './queue-key.ts';

/** A change of one run, written whole or not at all. */
export interface RunChange {
  /** The committed run; null before its start. */
  readonly before: Run | null;
  /** Its revision is one above that of `before`. */
  readonly after: Run;
  /** The epoch of the run's shard, as far as the writer knows. */
  readonly epoch: number;
  readonly steps: readonly NewStep[];
  readonly events: readonly OutboxEvent[];
  /** The commit refuses the change while the database's clock is before this; 0: no such condition. */
  readonly dueMs: number;
}

export interface OutboxEvent {
  readonly outboxId: string;
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly shard: number;
  readonly seq: number;
  readonly body: Uint8Array;
  readonly createdAtMs: number;
}

export interface BatchOutcome {
  /** Shards whose epoch was held; changes in other shards did not happen. */
  readonly heldShards: ReadonlySet<number>;
  /** Runs whose change happened. */
  readonly done: ReadonlySet<string>;
  /** The database's clock at the end of the statement. */
  readonly nowMs: number;
}

export interface QueueEntry {
  readonly runId: RunId;
  readonly shard: number;
  /** When the run was first queued: its place, which it keeps. */
  readonly queuedAtMs: number;
}

/** The result of one look at a queue. */
export interface QueueStretch {
  readonly entries: readonly QueueEntry[];
  /** Rows after this were not read; null: the queue has none after these entries. */
  readonly end: QueueCursor | null;
}

export interface DueQuestion {
  readonly runId: RunId;
  readonly orgId: OrgId;
  /** Empty: this is the time of a sleeping run. */
  readonly questionId: QuestionId | '';
  readonly shard: number;
  readonly wakeAtMs: number;
  /** Approximate memory of its run; 0: unknown. */
  readonly bytes: number;
}

/** A position among all deadlines. */
export interface DuePlace {
  readonly wakeAtMs: number;
  /** Empty: before all runs. */
  readonly runId: RunId | '';
}

export interface DueStretch {
  readonly questions: readonly DueQuestion[];
  /** Rows after this were not read; null: nothing is due after these questions. */
  readonly end: DuePlace | null;
}

/** The part of a running run that a take-over needs: its inputs and steps are read when something happens to it. */
export interface TakenRun {
  readonly runId: RunId;
  readonly orgId: OrgId;
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
  readonly orgId: OrgId;
  readonly revision: number;
}

export interface RunStore {
  /** Runs one fenced statement; throws when the outcome is unknown or the whole statement was refused. */
  commit(batch: readonly RunChange[]): Promise<BatchOutcome>;
  /** Returns the existing runs, by run id. The caller compares their organizations. */
  load(runIds: readonly RunId[]): Promise<Map<RunId, Run>>;
  /** Returns the revisions of existing runs, by run id: a cheap check for a run that has not changed. */
  places(runIds: readonly RunId[]): Promise<Map<RunId, RunPlace>>;
  /** Returns the run that a key belongs to, by `<org id>/<hex of the hash>`. */
  loadByKey(keys: readonly { orgId: OrgId; idempotencyHash: Uint8Array }[]): Promise<Map<string, Run>>;
  /** Reports whether a run of the organization has this content id. */
  hasContent(orgId: OrgId, contentId: string): Promise<boolean>;
  /** Reports whether the organization has this run. */
  hasRun(orgId: OrgId, runId: RunId): Promise<boolean>;
  /** Returns finished steps with their outs, in order, for a run that continues. */
  keptSteps(orgId: OrgId, runId: RunId): Promise<KeptStep[]>;
  /** Returns the same for many runs, by run id. Runs too large for one statement are missing. */
  keptStepsOf(runs: readonly { orgId: OrgId; runId: RunId }[]): Promise<Map<RunId, KeptStep[]>>;
  /** Returns the steps of a run that asked a question with rules about people. */
  stepsForPeople(orgId: OrgId, runId: RunId): Promise<string[]>;
  /** Returns the out of a step, or its note from when it began; null: nothing. */
  outOfStep(orgId: OrgId, runId: RunId, path: string): Promise<string | null>;
  /** Returns the running runs of shards just taken. */
  runningOf(shards: readonly ShardEpoch[]): Promise<TakenRun[]>;
  /** Another node has these shards: the cached state of their running runs is stale. */
  forget(shards: ReadonlySet<number>): void;
  /** Returns the oldest entry of each of these queues in the given shards, in their order, by one statement. */
  queueHeads(queues: readonly QueueKey[], shards: readonly number[]): Promise<QueueStretch[]>;
  /** Returns the next entries of a queue after a cursor, oldest first, in the given shards. */
  queuePage(queue: QueueKey, after: QueueCursor, shards: readonly number[], limit: number): Promise<QueueStretch>;
  /**
   * Returns the next deadlines of questions and sleeping runs after a position and before `untilMs`, in the given
   * shards.
   */
  dueQuestions(shards: readonly number[], untilMs: number, after: DuePlace): Promise<DueStretch>;
  /** Returns the numbers of unfinished runs of these organizations; those without any are missing. */
  unfinished(orgIds: readonly OrgId[]): Promise<Map<OrgId, number>>;
  /** Returns the database's clock in ms. */
  clockMs(): Promise<number>;
}

export interface QueueCursor {
  readonly queuedAtMs: number;
  /** Empty: before all runs. */
  readonly runId: RunId | '';
}
