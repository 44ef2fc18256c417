// Addresses a run by its id: finds or creates the actor of a run whose shard this node owns. Idle actors are removed;
// those of a lost shard are dropped at once.
import { Passivation } from '@methods/actors/passivation';
import type { Clock } from '@methods/base/clock';
import { type OrgId, type RunId, shardOfRunId, type VersionId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { Effect, RunEventName } from '../run/decision.ts';
import type { Run, RunFacts, RunningRun } from '../run/run.ts';
import type { ClaimRun, KeptBeginning, RunCommand } from '../run/run-command.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import { keyText } from '../store/postgres-run-store.ts';
import type { OutboxEvent, RunPlace, RunStore } from '../store/run-store.ts';
import type { Committer } from './committer.ts';
import { EarlyGrants } from './early-grants.ts';
import { type ActorHost, type Envelope, RunActor, type TellOutcome } from './run-actor.ts';
import { RunLoader } from './run-loader.ts';

export interface RunListener {
  committed(before: Run | null, after: Run, effects: readonly Effect[]): void;
}

/** The reply to a request whose key is in use: the run of the first request if both are the same, else a conflict. */
export type Replay =
  | { readonly kind: 'replayed'; readonly run: Run }
  | { readonly kind: 'failed'; readonly code: 'idempotency_conflict' };

export type StartOutcome =
  | { readonly kind: 'started'; readonly run: Run }
  | Replay
  | { readonly kind: 'failed'; readonly code: 'wrong_shard' | 'unavailable' | 'invalid_request' | 'content_id_taken' };

export interface StartOptions {
  readonly kept?: KeptBeginning | undefined;
  /** Returns false once the caller has gone; nothing is committed then. */
  readonly wanted?: (() => boolean) | undefined;
  /** The run's steps have no effect outside of it. */
  readonly onlyComputes?: boolean;
}

const IDLE_ACTORS_MAX = 2_048;
const IDLE_MS = 5_000;

export class RunActors implements ActorHost {
  private readonly actors = new Map<RunId, RunActor>();
  private readonly passivation: Passivation<RunId>;
  private readonly loader: RunLoader;
  private readonly listeners: RunListener[] = [];
  private readonly eventListeners: ((events: readonly OutboxEvent[]) => void)[] = [];
  private readonly earlyListeners: ((run: RunningRun) => void)[] = [];
  private readonly early: EarlyGrants;

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly committer: Committer;
      readonly databaseClock: DatabaseClock;
      readonly clock: Clock;
      readonly shardCount: number;
      readonly owns: (shard: number) => boolean;
      /** Reports whether the event is kept for others. */
      readonly isHeard: (facts: RunFacts, event: RunEventName) => boolean;
      readonly eventFor: (run: Run, event: Effect & { type: 'emit' }) => OutboxEvent;
      readonly logger: Logger;
    },
  ) {
    this.loader = new RunLoader(options.store);
    this.early = new EarlyGrants(options.clock);
    this.passivation = new Passivation({
      idleMax: IDLE_ACTORS_MAX,
      idleMs: IDLE_MS,
      clock: options.clock,
      drop: (runId) => this.actors.delete(runId),
    });
  }

  listen(listener: RunListener): void {
    this.listeners.push(listener);
  }

  /** Calls the listener with each run that is granted before its commit. */
  listenEarly(listener: (run: RunningRun) => void): void {
    this.earlyListeners.push(listener);
  }

  /** Calls the listener with the events of each commit, to be sent at once. */
  listenEvents(listener: (events: readonly OutboxEvent[]) => void): void {
    this.eventListeners.push(listener);
  }

  /** Removes idle actors; called on a coarse tick. */
  sweep(): void {
    this.passivation.sweep();
  }

  /** Passes on a command and the claim of the run that it queues; returns the outcome of each. */
  tellAndClaim(
    { orgId, runId }: { orgId: OrgId; runId: RunId },
    command: RunCommand,
    claim: ClaimRun,
  ): readonly [Promise<TellOutcome>, Promise<TellOutcome>] {
    const actor = this.actors.get(runId);
    const run = actor?.committedRun ?? null;
    if (!actor?.onlyComputes || run === null) {
      return [this.tell(orgId, runId, command), this.tell(orgId, runId, claim)];
    }
    this.passivation.busy(runId);
    let claimed: Envelope['reply'] = () => {};
    const claiming = new Promise<TellOutcome>((reply) => {
      claimed = reply;
    });
    const telling = new Promise<TellOutcome>((reply) => {
      this.tellClaimed(
        actor,
        run.facts.versionId,
        { orgId, command, reply },
        { orgId, command: claim, reply: claimed },
      );
    });
    return [telling, claiming];
  }

  /** `known`: the committed run, for an actor that this command creates. */
  tell(orgId: OrgId | null, runId: RunId, command: RunCommand, known?: Run): Promise<TellOutcome> {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) return Promise.resolve({ kind: 'refused', code: 'not_found', run: null });
    if (!this.options.owns(shard)) return Promise.resolve({ kind: 'failed', code: 'wrong_shard' });
    return new Promise((reply) => this.actorOf(runId, known).tell({ orgId, command, reply }));
  }

  /** Starts a run, and claims it in the same commit if a worker waits for it. */
  async startRun(
    facts: RunFacts,
    claim: ClaimRun | null,
    { kept, wanted, onlyComputes }: StartOptions = {},
  ): Promise<StartOutcome> {
    const { orgId } = facts;
    const actor = new RunActor(facts.runId, this, null, onlyComputes);
    this.actors.set(facts.runId, actor);
    const outcome = await new Promise<TellOutcome>((reply) => {
      const start: Envelope = { orgId, command: { type: 'start', facts, ...(kept && { kept }) }, wanted, reply };
      if (claim === null) actor.tell(start);
      else this.tellClaimed(actor, facts.versionId, start, { orgId, command: claim, reply: () => {} });
    });
    if (outcome.kind === 'accepted') return { kind: 'started', run: outcome.run };
    if (outcome.kind === 'refused') return { kind: 'failed', code: 'unavailable' };
    return outcome.code === 'key_taken' ? this.replay(facts) : { kind: 'failed', code: outcome.code };
  }

  private tellClaimed(
    actor: RunActor,
    versionId: VersionId,
    queues: Envelope,
    claims: Envelope & { command: ClaimRun },
  ): void {
    if (!actor.onlyComputes || !this.early.isTimely(versionId)) {
      actor.tell(queues);
      actor.tell(claims);
      return;
    }
    const run = actor.tellEarly([queues, claims]);
    if (run?.status !== 'running' || run.token !== claims.command.token) {
      actor.commitNow();
      return;
    }
    this.early.add(actor, versionId);
    for (const listener of this.earlyListeners) this.tellOf(run, () => listener(run));
  }

  private async replay(facts: RunFacts): Promise<StartOutcome> {
    // The other node's insert may not be visible at the first read.
    for (let look = 0; look < 2; look++) {
      const replay = await this.byKey(facts).catch(() => null);
      if (replay !== null) return replay;
    }
    const { orgId, contentId } = facts;
    if (contentId !== null && (await this.options.store.hasContent(orgId, contentId).catch(() => false))) {
      return { kind: 'failed', code: 'content_id_taken' };
    }
    return { kind: 'failed', code: 'unavailable' };
  }

  /** Returns null if no run has the key. */
  async byKey(request: Pick<RunFacts, 'orgId' | 'idempotencyHash' | 'requestDigest'>): Promise<Replay | null> {
    const { orgId, idempotencyHash, requestDigest } = request;
    const found = await this.options.store.loadByKey([{ orgId, idempotencyHash }]);
    const run = found.get(keyText(orgId, idempotencyHash));
    if (run === undefined) return null;
    const same = Buffer.compare(run.facts.requestDigest, requestDigest) === 0;
    return same ? { kind: 'replayed', run } : { kind: 'failed', code: 'idempotency_conflict' };
  }

  /** Reads the committed run from the database. */
  read(runId: RunId): Promise<Run | null> {
    return this.loader.load(runId);
  }

  /** Reads only the run's revision from the database, at a fraction of the cost of reading the run. */
  place(runId: RunId): Promise<RunPlace | null> {
    return this.loader.place(runId);
  }

  dropShards(shards: ReadonlySet<number>): void {
    for (const [runId, actor] of this.actors) {
      const shard = shardOfRunId(runId, this.options.shardCount);
      if (shard === null || !shards.has(shard)) continue;
      this.actors.delete(runId);
      this.passivation.busy(runId);
      actor.drop();
    }
  }

  /**
   * Returns the state of a resident actor, without a read. It may lack the commit in flight, which notifies once it is
   * done.
   */
  resident(run: { runId: RunId; orgId: OrgId }): Run | null {
    const known = this.actors.get(run.runId)?.committedRun ?? null;
    return known?.facts.orgId === run.orgId ? known : null;
  }

  /** Returns the run as its worker knows it; it may be uncommitted. */
  granted(run: { runId: RunId; orgId: OrgId }): Run | null {
    const known = this.actors.get(run.runId)?.grantedRun ?? null;
    return known?.facts.orgId === run.orgId ? known : null;
  }

  get size(): number {
    return this.actors.size;
  }

  private actorOf(runId: RunId, run?: Run): RunActor {
    const known = this.actors.get(runId);
    if (known !== undefined) {
      this.passivation.busy(runId);
      return known;
    }
    const actor = new RunActor(runId, this, run);
    this.actors.set(runId, actor);
    return actor;
  }

  load(runId: RunId): Promise<Run | null> {
    return this.loader.load(runId);
  }

  submit(change: Parameters<ActorHost['submit']>[0]): ReturnType<ActorHost['submit']> {
    return this.options.committer.submit(change);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.options.clock.after(ms, resolve));
  }

  nowMs(): number {
    return this.options.databaseClock.nowMs();
  }

  isHeard({ facts }: Run, event: RunEventName): boolean {
    return this.options.isHeard(facts, event);
  }

  eventFor(run: Run, effect: Effect & { type: 'emit' }): OutboxEvent {
    return this.options.eventFor(run, effect);
  }

  committed(before: Run | null, after: Run, effects: readonly Effect[], events: readonly OutboxEvent[]): void {
    for (const listener of this.listeners) this.tellOf(after, () => listener.committed(before, after, effects));
    if (events.length > 0) for (const listener of this.eventListeners) this.tellOf(after, () => listener(events));
  }

  /** The change is committed: a listener that fails must block neither the others nor the reply. */
  private tellOf(run: Run, tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.options.logger.error({ error, run: run.facts.runId }, 'a commit was not followed up');
    }
  }

  settled(actor: RunActor, run: Run | null): void {
    if (this.actors.get(actor.runId) !== actor) return;
    if (run === null) this.actors.delete(actor.runId);
    else if (run.status === 'queued' || run.status === 'sleeping' || run.status === 'waiting')
      this.passivation.idle(actor.runId);
    else if (run.status !== 'running') this.actors.delete(actor.runId);
  }
}
