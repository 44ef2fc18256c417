// Group commit: one batch in flight a node, and whatever changed meanwhile is the next one. Alone, a change is
// committed at once; under load a batch waits a moment for company, since the statement costs more than its rows.
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import { sqlState } from '@methods/postgres/safe-db-error';
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

/** `wanted`: false once its caller has gone; then it does not happen. */
export type SubmittedChange = Omit<RunChange, 'epoch'> & { readonly wanted?: (() => boolean) | undefined };

interface Waiting {
  readonly change: SubmittedChange;
  readonly bytes: number;
  readonly resolve: (outcome: ChangeOutcome) => void;
}

interface Settled {
  readonly one: Waiting;
  readonly outcome: ChangeOutcome;
}

const CHANGES_MAX = 256;
const BYTES_MAX = 1 << 20;
/** While Postgres stalls the batch in flight takes seconds: what comes beyond this hears `unavailable` at once. */
const WAITING_MAX = 20_000;
const WAITING_BYTES_MAX = 64 << 20;
/** A batch larger than this says there is load: the next one waits for company. */
const LOADED_ABOVE = 4;
const COMPANY = 32;
const COMPANY_WAIT_MS = 3;
/** Tries of a batch that met another's locks in a circle. */
const TRIES_MAX = 5;

export class Committer {
  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  private state: 'idle' | 'scheduled' | 'gathering' | 'committing' = 'idle';
  private lastSize = 0;
  private gathering: { cancel(): void } | null = null;
  private submitted = 0;
  private settled = 0;
  private idleListeners: { readonly after: number; readonly resolve: () => void }[] = [];

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly shards: ShardEpochs;
      readonly clock: Clock;
      readonly databaseClock: DatabaseClock;
      readonly logger: Logger;
    },
  ) {}

  submit(change: SubmittedChange): Promise<ChangeOutcome> {
    if (this.options.shards.epochOf(change.after.facts.shard) === null) return Promise.resolve('lost_shard');
    const bytes = bytesOf(change);
    if (this.waiting.length >= WAITING_MAX || this.waitingBytes + bytes > WAITING_BYTES_MAX) {
      return Promise.resolve('unavailable');
    }
    this.submitted++;
    this.waitingBytes += bytes;
    return new Promise((resolve) => {
      this.waiting.push({ change, bytes, resolve });
      if (this.state === 'idle') {
        this.state = 'scheduled';
        setImmediate(() => this.begin());
      } else if (this.state === 'gathering' && this.waiting.length >= COMPANY) {
        this.gathering?.cancel();
        this.begin();
      }
    });
  }

  /** Resolves when everything submitted so far is settled; under load the committer itself is never idle. */
  idle(): Promise<void> {
    if (this.settled === this.submitted) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push({ after: this.submitted, resolve }));
  }

  private begin(): void {
    this.state = 'committing';
    const batch = this.nextBatch();
    this.lastSize = batch.length;
    this.commit(batch, 1).then(
      (settled) => this.next(settled),
      (error) => {
        this.options.logger.error({ error }, 'commit loop failed');
        this.next(allOf(batch, 'unavailable'));
      },
    );
  }

  /** The next batch goes first: what follows from this one is done while the database works. */
  private next(settled: readonly Settled[]): void {
    if (this.waiting.length === 0) {
      this.state = 'idle';
    } else if (this.lastSize > LOADED_ABOVE && this.waiting.length < COMPANY) {
      this.state = 'gathering';
      this.gathering = this.options.clock.after(COMPANY_WAIT_MS, () => this.begin());
    } else {
      this.begin();
    }
    for (const { one, outcome } of settled) one.resolve(outcome);
    this.settled += settled.length;
    while ((this.idleListeners[0]?.after ?? Number.POSITIVE_INFINITY) <= this.settled) {
      this.idleListeners.shift()?.resolve();
    }
  }

  private nextBatch(): Waiting[] {
    let bytes = 0;
    const runIds = new Set<string>();
    for (const one of this.waiting) {
      bytes += one.bytes;
      const { runId } = one.change.after.facts;
      // An actor that was dropped and its successor may both have a change of one run: in one statement both would
      // seem to have happened.
      if (runIds.has(runId) || runIds.size === CHANGES_MAX || (runIds.size > 0 && bytes > BYTES_MAX)) break;
      runIds.add(runId);
    }
    const batch = this.waiting.splice(0, runIds.size);
    for (const one of batch) this.waitingBytes -= one.bytes;
    return batch;
  }

  /**
   * The epochs are those of this moment: one that was renewed since the change was made, after a commit without a
   * reply, must not refuse what has nothing to do with that commit. The run's revision guards the change itself.
   */
  private async commit(waiting: readonly Waiting[], tries: number): Promise<Settled[]> {
    const settled: Settled[] = [];
    const batch: Waiting[] = [];
    const changes: RunChange[] = [];
    for (const one of waiting) {
      const { before, after, steps, events, dueMs, wanted } = one.change;
      const epoch = this.options.shards.epochOf(after.facts.shard);
      if (epoch === null) settled.push({ one, outcome: 'lost_shard' });
      else if (wanted?.() === false) settled.push({ one, outcome: 'unavailable' });
      else {
        batch.push(one);
        changes.push({ before, after, steps, events, dueMs, epoch });
      }
    }
    if (batch.length === 0) return settled;
    try {
      settled.push(...this.outcomes(batch, changes, await this.options.store.commit(changes)));
    } catch (error) {
      settled.push(...(await this.recover(batch, error, tries)));
    }
    return settled;
  }

  private outcomes(batch: readonly Waiting[], changes: readonly RunChange[], outcome: BatchOutcome): Settled[] {
    this.options.databaseClock.observe(outcome.nowMs);
    const lost: { shard: number; epoch: number }[] = [];
    const settled = batch.map((one, i): Settled => {
      const { before, after } = one.change;
      const { runId, shard } = after.facts;
      if (outcome.done.has(runId)) return { one, outcome: 'done' };
      if (outcome.heldShards.has(shard)) return { one, outcome: before === null ? 'key_taken' : 'moved_on' };
      lost.push({ shard, epoch: changes[i]?.epoch ?? 0 });
      return { one, outcome: 'lost_shard' };
    });
    if (lost.length > 0) this.options.shards.lost(lost);
    return settled;
  }

  private async recover(batch: readonly Waiting[], error: unknown, tries: number): Promise<Settled[]> {
    const kind = faultKind(error);
    this.options.logger.warn({ error, kind, changes: batch.length }, 'commit failed');
    if (kind === 'again' && tries < TRIES_MAX) return this.commit(batch, tries + 1);
    if (kind === 'data') return this.split(batch);
    if (kind !== 'unknown') return allOf(batch, 'unavailable');
    // No reply: the statement may still be running. A new epoch waits for its lock and shuts it out.
    await this.options.shards.bump([...new Set(batch.map((w) => w.change.after.facts.shard))]);
    return allOf(batch, 'unknown');
  }

  /** One row that Postgres cannot store must not fail its neighbours: halve until it stands alone. */
  private async split(batch: readonly Waiting[]): Promise<Settled[]> {
    if (batch.length === 1) return allOf(batch, 'invalid');
    const middle = batch.length >> 1;
    const first = await this.commit(batch.slice(0, middle), 1);
    return [...first, ...(await this.commit(batch.slice(middle), 1))];
  }
}

function allOf(batch: readonly Waiting[], outcome: ChangeOutcome): Settled[] {
  return batch.map((one) => ({ one, outcome }));
}

function bytesOf(change: SubmittedChange): number {
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
  const state = sqlState(error);
  if (state === null) return 'unknown';
  if (state === '40P01' || state === '40001') return 'again';
  if (/^(22|23|54)/.test(state)) return 'data';
  // The server, or what stands before it, is going away and may have done it before it said so.
  return /^(08|57P|40003)/.test(state) ? 'unknown' : 'refused';
}
