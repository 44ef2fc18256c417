// Group commit: each organization has one batch in flight per node, and the changes made meanwhile form the next one. A
// single change is committed at once. Under load a batch waits a moment for more changes, since the statement costs
// more than its rows. A second batch, with changes of other organizations only, may be in flight beside the first, so
// that an organization that commits without pause does not block the others. The two batches share no row, so neither
// waits for a lock of the other.
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { sqlState } from '@methods/postgres/database-fault';
import type { DatabaseClock } from '../store/database-clock.ts';
import type { BatchOutcome, RunChange, RunStore } from '../store/run-store.ts';
import { BATCH_SIZE, BatchParts } from './batch-parts.ts';

/**
 * `lost_shard`: another node owns the shard now. `moved_on`: the row is not in the state that the actor expected, or
 * the change's time has not come by the database's clock. `key_taken`: another run has this idempotency key. `unknown`:
 * the change may have happened; its shard has a new epoch, so it can no longer happen later. `invalid`: Postgres cannot
 * store it.
 */
export type ChangeOutcome = 'done' | 'lost_shard' | 'moved_on' | 'key_taken' | 'unknown' | 'invalid' | 'unavailable';

export interface ShardEpochs {
  epochOf(shard: number): number | null;
  lost(shards: readonly { shard: number; epoch: number }[]): void;
  bump(shards: readonly number[]): Promise<void>;
}

/** `wanted` returns false once the caller has gone; the change is then dropped. */
export type SubmittedChange = Omit<RunChange, 'epoch'> & { readonly wanted?: (() => boolean) | undefined };

interface Waiting {
  readonly change: SubmittedChange;
  readonly bytes: number;
  readonly resolve: (outcome: ChangeOutcome) => void;
}

interface Batch {
  readonly changes: readonly Waiting[];
  readonly orgIds: ReadonlySet<OrgId>;
}

interface Settled {
  readonly one: Waiting;
  readonly outcome: ChangeOutcome;
}

/** The store has connections for this many. */
const BATCHES_MAX = 2;
const { changesMax: CHANGES_MAX, bytesMax: BYTES_MAX } = BATCH_SIZE;
/** While Postgres stalls, the batch in flight takes seconds: changes beyond this bound get `unavailable` at once. */
const WAITING_MAX = 20_000;
const WAITING_BYTES_MAX = 64 << 20;
/** More changes of an organization in a batch indicate load: its next batch waits for more changes. */
const LOADED_ABOVE = 4;
const COMPANY = 32;
const COMPANY_WAIT_MS = 3;
const NONE: ReadonlySet<OrgId> = new Set();
/** How often a batch is tried that deadlocks with another one. */
const TRIES_MAX = 5;

export class Committer {
  private waiting: Waiting[] = [];
  private waitingBytes = 0;
  private readonly inFlight = new Set<Batch>();
  private scheduled = false;
  /** Organizations whose next batch waits for more changes; those of others do not. */
  private gathering: { readonly orgIds: ReadonlySet<OrgId>; readonly timer: Timer } | null = null;
  /** Unsettled changes, in the order of their submission. */
  private readonly open = new Set<Waiting>();
  private idleListeners: { readonly before: ReadonlySet<Waiting>; readonly resolve: () => void }[] = [];
  /** Takes the new epochs that follow commits without a reply. */
  private bumps: Promise<void> = Promise.resolve();

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
    this.waitingBytes += bytes;
    return new Promise((resolve) => {
      const one = { change, bytes, resolve };
      this.waiting.push(one);
      this.open.add(one);
      if (this.gathering !== null && this.waiting.length >= COMPANY) {
        this.gathered();
      } else if (!this.scheduled && this.mayFly(one)) {
        this.scheduled = true;
        setImmediate(() => this.begin());
      }
    });
  }

  /** Resolves when all changes submitted so far are settled. Under load the committer itself is never idle. */
  idle(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push({ before: new Set(this.open), resolve }));
  }

  private mayFly({ change }: Waiting): boolean {
    if (this.inFlight.size >= BATCHES_MAX) return false;
    const { orgId } = change.after.facts;
    for (const { orgIds } of this.inFlight) if (orgIds.has(orgId)) return false;
    return this.gathering?.orgIds.has(orgId) !== true;
  }

  private gathered(): void {
    this.gathering?.timer.cancel();
    this.gathering = null;
    this.begin();
  }

  private begin(): void {
    this.scheduled = false;
    const changes = this.nextBatch();
    if (changes.length === 0) return;
    const batch = { changes, orgIds: new Set(changes.map(({ change }) => change.after.facts.orgId)) };
    this.inFlight.add(batch);
    this.commit(changes, 1).then(
      (settled) => this.landed(batch, settled),
      (error) => {
        this.options.logger.error({ error }, 'commit loop failed');
        this.landed(batch, allOf(changes, 'unavailable'));
      },
    );
  }

  /** Sends the next batch before it runs the effects of this one, so that both happen at the same time. */
  private landed(batch: Batch, settled: readonly Settled[]): void {
    this.inFlight.delete(batch);
    if (this.waiting.length > 0) {
      const orgIds = this.gathering === null && this.waiting.length < COMPANY ? loadedIn(batch) : NONE;
      if (orgIds.size > 0) {
        this.gathering = { orgIds, timer: this.options.clock.after(COMPANY_WAIT_MS, () => this.gathered()) };
      }
      this.begin();
    }
    for (const { one, outcome } of settled) {
      one.resolve(outcome);
      this.open.delete(one);
    }
    this.idleListeners = this.idleListeners.filter(({ before, resolve }) => {
      for (const one of before) if (this.open.has(one)) return true;
      resolve();
      return false;
    });
  }

  /**
   * Takes changes in order, for each organization up to its part of the batch; skips those that must wait for a batch
   * in flight.
   */
  private nextBatch(): Waiting[] {
    let bytes = 0;
    const runIds = new Set<string>();
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const parts = new BatchParts(this.waiting.filter((one) => this.mayFly(one)));
    let isFull = false;
    for (const one of this.waiting) {
      const { runId } = one.change.after.facts;
      if (!isFull && parts.hasRoom(one)) {
        bytes += one.bytes;
        // A dropped actor and its successor may each have a change of one run. In one statement both would seem to have
        // happened.
        isFull = runIds.has(runId) || runIds.size === CHANGES_MAX || (runIds.size > 0 && bytes > BYTES_MAX);
        if (!isFull) {
          runIds.add(runId);
          batch.push(one);
          continue;
        }
      }
      left.push(one);
    }
    this.waiting = left;
    for (const one of batch) this.waitingBytes -= one.bytes;
    return batch;
  }

  /**
   * Uses the present epochs: an epoch renewed since the change was made must not refuse it, because the commit without
   * a reply did not contain it. The run's revision guards the change itself.
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
    let outcome: BatchOutcome;
    try {
      outcome = await this.options.store.commit(changes);
    } catch (error) {
      return [...settled, ...(await this.recover(batch, error, tries))];
    }
    return [...settled, ...(await this.outcomes(batch, changes, outcome, tries))];
  }

  private async outcomes(
    batch: readonly Waiting[],
    changes: readonly RunChange[],
    outcome: BatchOutcome,
    tries: number,
  ): Promise<Settled[]> {
    const { databaseClock, shards } = this.options;
    databaseClock.observe(outcome.nowMs);
    const settled: Settled[] = [];
    const refused: Waiting[] = [];
    const epochs = new Map<number, number>();
    for (const [i, one] of batch.entries()) {
      const { before, after } = one.change;
      const { runId, shard } = after.facts;
      if (outcome.done.has(runId)) settled.push({ one, outcome: 'done' });
      else if (outcome.heldShards.has(shard))
        settled.push({ one, outcome: before === null ? 'key_taken' : 'moved_on' });
      else {
        refused.push(one);
        epochs.set(shard, changes[i]?.epoch ?? 0);
      }
    }
    if (refused.length === 0) return settled;
    // The other batch may have got no reply; the new epochs it causes do not concern this one.
    await this.bumps;
    const isRenewed = (shard: number) => (shards.epochOf(shard) ?? 0) > (epochs.get(shard) ?? 0);
    const again = refused.filter(({ change }) => tries < TRIES_MAX && isRenewed(change.after.facts.shard));
    const lost = refused.filter((one) => !again.includes(one));
    for (const { change } of again) epochs.delete(change.after.facts.shard);
    if (epochs.size > 0) shards.lost([...epochs].map(([shard, epoch]) => ({ shard, epoch })));
    settled.push(...allOf(lost, 'lost_shard'));
    return again.length === 0 ? settled : [...settled, ...(await this.commit(again, tries + 1))];
  }

  private async recover(batch: readonly Waiting[], error: unknown, tries: number): Promise<Settled[]> {
    const kind = faultKind(error);
    this.options.logger.warn({ error, kind, changes: batch.length }, 'commit failed');
    if (kind === 'again' && tries < TRIES_MAX) return this.commit(batch, tries + 1);
    if (kind === 'data') return this.split(batch);
    if (kind !== 'unknown') return allOf(batch, 'unavailable');
    // Without a reply the statement may still be running. Taking a new epoch waits for its lock and excludes it.
    this.bumps = this.options.shards.bump([...new Set(batch.map((w) => w.change.after.facts.shard))]);
    await this.bumps;
    return allOf(batch, 'unknown');
  }

  /**
   * Splits a batch that Postgres refused: halves it until the row that cannot be stored is by itself, so that its
   * neighbours are committed.
   */
  private async split(batch: readonly Waiting[]): Promise<Settled[]> {
    if (batch.length === 1) return allOf(batch, 'invalid');
    const middle = batch.length >> 1;
    const first = await this.commit(batch.slice(0, middle), 1);
    return [...first, ...(await this.commit(batch.slice(middle), 1))];
  }
}

/** Organizations with enough changes in a batch that more of them can be expected soon. */
function loadedIn({ changes }: Batch): ReadonlySet<OrgId> {
  if (changes.length <= LOADED_ABOVE) return NONE;
  const counts = new Map<OrgId, number>();
  for (const { change } of changes) {
    const { orgId } = change.after.facts;
    counts.set(orgId, (counts.get(orgId) ?? 0) + 1);
  }
  return new Set([...counts.keys()].filter((orgId) => (counts.get(orgId) ?? 0) > LOADED_ABOVE));
}

function allOf(batch: readonly Waiting[], outcome: ChangeOutcome): Settled[] {
  return batch.map((one) => ({ one, outcome }));
}

function bytesOf(change: SubmittedChange): number {
  const { after } = change;
  let bytes = 512;
  if (change.before === null) bytes += after.facts.inputsJson.length;
  if (after.status === 'succeeded') bytes += after.resultJson.length;
  if (after.status === 'waiting') {
    const { formJson, prompt, sealed = '' } = after.question;
    bytes += formJson.length + prompt.length + sealed.length;
  }
  for (const step of change.steps) bytes += step.outJson?.length ?? 0;
  for (const event of change.events) bytes += event.body.length;
  return bytes;
}

/** Classifies a failed statement. Only a server's own error proves that nothing happened. */
function faultKind(error: unknown): 'again' | 'data' | 'refused' | 'unknown' {
  const state = sqlState(error);
  if (state === null) return 'unknown';
  if (state === '40P01' || state === '40001') return 'again';
  if (/^(22|23|54)/.test(state)) return 'data';
  // The server, or a proxy in front of it, is shutting down and may have committed before it sent this.
  return /^(08|57P|40003)/.test(state) ? 'unknown' : 'refused';
}
