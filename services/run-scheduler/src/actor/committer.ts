// Group commit: one batch in flight a node, and whatever changed meanwhile is the next one. Alone, a change is
// committed at once; under load a batch waits a moment for company, since the statement costs more than its rows.
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/safe-db-error';
import type { DatabaseClock } from '../database-clock.ts';
import type { BatchOutcome, RunChange, RunStore } from '../store/run-store.ts';

/**
 * `lost_shard`: another node owns it now. `moved_on`: the row is not as the actor believed, or its moment has not
 * come by the database's clock. `key_taken`: another run has this idempotency key. `unknown`: it may have happened;
 * its shard has a new epoch, so it can no longer happen later. `invalid`: Postgres cannot store it.
 */
export type ChangeOutcome = 'done' | 'lost_shard' | 'moved_on' | 'key_taken' | 'unknown' | 'invalid' | 'unavailable';

export interface ShardEpochs {
  epochOf(shard: number): number | null;
  lost(shards: readonly { shard: number; epoch: number }[]): void;
  bump(shards: readonly number[]): Promise<void>;
}

interface Waiting {
  readonly change: RunChange;
  readonly bytes: number;
  readonly resolve: (outcome: ChangeOutcome) => void;
}

const CHANGES_MAX = 256;
const BYTES_MAX = 1 << 20;
/** A batch larger than this says there is load: the next one waits for company. */
const LOADED_ABOVE = 4;
const COMPANY = 32;
const COMPANY_WAIT_MS = 3;

export class Committer {
  private waiting: Waiting[] = [];
  private state: 'idle' | 'scheduled' | 'gathering' | 'committing' = 'idle';
  private lastSize = 0;
  private gathering: { cancel(): void } | null = null;
  private idleListeners: (() => void)[] = [];

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly shards: ShardEpochs;
      readonly clock: Clock;
      readonly databaseClock: DatabaseClock;
      readonly logger: Logger;
    },
  ) {}

  submit(change: Omit<RunChange, 'epoch'>): Promise<ChangeOutcome> {
    const epoch = this.options.shards.epochOf(change.after.facts.shard);
    if (epoch === null) return Promise.resolve('lost_shard');
    return new Promise((resolve) => {
      this.waiting.push({ change: { ...change, epoch }, bytes: bytesOf(change), resolve });
      if (this.state === 'idle') {
        this.state = 'scheduled';
        setImmediate(() => this.begin());
      } else if (this.state === 'gathering' && this.waiting.length >= COMPANY) {
        this.gathering?.cancel();
        this.begin();
      }
    });
  }

  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void> {
    if (this.state === 'idle') return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push(resolve));
  }

  private begin(): void {
    this.state = 'committing';
    const batch = this.nextBatch();
    this.lastSize = batch.length;
    this.commit(batch).then(
      () => this.next(),
      (error) => {
        this.options.logger.error({ err: safeDbError(error) }, 'commit loop failed');
        for (const { resolve } of batch) resolve('unavailable');
        this.next();
      },
    );
  }

  private next(): void {
    if (this.waiting.length === 0) {
      this.state = 'idle';
      for (const listener of this.idleListeners.splice(0)) listener();
    } else if (this.lastSize > LOADED_ABOVE && this.waiting.length < COMPANY) {
      this.state = 'gathering';
      this.gathering = this.options.clock.after(COMPANY_WAIT_MS, () => this.begin());
    } else {
      this.begin();
    }
  }

  private nextBatch(): Waiting[] {
    let size = 0;
    let bytes = 0;
    while (size < this.waiting.length && size < CHANGES_MAX) {
      bytes += this.waiting[size]?.bytes ?? 0;
      if (size > 0 && bytes > BYTES_MAX) break;
      size++;
    }
    return this.waiting.splice(0, size);
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    try {
      this.settle(batch, await this.options.store.commit(batch.map((w) => w.change)));
    } catch (error) {
      await this.recover(batch, error);
    }
  }

  private settle(batch: readonly Waiting[], outcome: BatchOutcome): void {
    this.options.databaseClock.observe(outcome.nowMs);
    const lost: { shard: number; epoch: number }[] = [];
    for (const { change, resolve } of batch) {
      const { runId, shard } = change.after.facts;
      if (outcome.done.has(runId)) resolve('done');
      else if (outcome.heldShards.has(shard)) resolve(change.before === null ? 'key_taken' : 'moved_on');
      else {
        lost.push({ shard, epoch: change.epoch });
        resolve('lost_shard');
      }
    }
    if (lost.length > 0) this.options.shards.lost(lost);
  }

  private async recover(batch: readonly Waiting[], error: unknown): Promise<void> {
    const kind = faultKind(error);
    this.options.logger.warn({ err: safeDbError(error), kind, changes: batch.length }, 'commit failed');
    if (kind === 'again') return this.commit(batch);
    if (kind === 'data') return this.split(batch);
    if (kind === 'refused') {
      for (const { resolve } of batch) resolve('unavailable');
      return;
    }
    // No reply: the statement may still be running. A new epoch waits for its lock and shuts it out.
    await this.options.shards.bump([...new Set(batch.map((w) => w.change.after.facts.shard))]);
    for (const { resolve } of batch) resolve('unknown');
  }

  /** One row that Postgres cannot store must not fail its neighbours: halve until it stands alone. */
  private async split(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) {
      batch[0]?.resolve('invalid');
      return;
    }
    const middle = batch.length >> 1;
    await this.commit(batch.slice(0, middle));
    await this.commit(batch.slice(middle));
  }
}

function bytesOf(change: Omit<RunChange, 'epoch'>): number {
  const { after } = change;
  let bytes = 512;
  if (change.before === null) bytes += after.facts.inputsJson.length;
  if (after.status === 'succeeded') bytes += after.resultJson.length;
  if (after.status === 'waiting') bytes += after.question.formJson.length + after.question.prompt.length;
  for (const step of change.steps) bytes += step.outJson?.length ?? 0;
  for (const event of change.events) bytes += event.body.length;
  return bytes;
}

/** What a failed statement means. Only a server's own error says that nothing happened. */
function faultKind(error: unknown): 'again' | 'data' | 'refused' | 'unknown' {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === '40P01' || code === '40001') return 'again';
  if (/^(22|23|54)[0-9A-Z]{3}$/.test(code)) return 'data';
  // 57P01-03: the server is going away and may have done it before it said so.
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P')) return 'refused';
  return 'unknown';
}
