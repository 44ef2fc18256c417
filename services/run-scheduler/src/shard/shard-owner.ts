// The shards of this node: takes those that the assignment gives it, gives away those that it gives to others, and
// notifies the rest of the service of the shards it may act on. Two nodes may both believe for a moment that they own a
// shard; only one of them can commit, because every commit checks the epoch in the database.
import type { Clock, Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { PeerItem } from '@methods/proto/peer/v1/peer_service_pb';
import type { PeerLinks } from '../wire/peer-links.ts';
import { assignShards } from './assignment.ts';
import { EpochBumps } from './epoch-bumps.ts';
import { HandOver } from './hand-over.ts';
import type { Membership } from './membership.ts';
import { BelievedOwners, OwnedShards } from './owned-shards.ts';
import type { ShardEpoch, ShardLease } from './shard-lease.ts';
import { TakeOver } from './take-over.ts';

export interface ShardOwnerOptions {
  readonly nodeId: string;
  readonly shardCount: number;
  readonly membership: Membership;
  readonly lease: ShardLease;
  readonly peers: Pick<PeerLinks, 'send' | 'connected' | 'onItem' | 'onConnected'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// After a refusal another node is in charge: this one does not compete for the shard meanwhile.
const AFTER_LOSS_MS = 3_000;
// A joining node without a link gets its shards after this, too.
const UNLINKED_MS = 4_000;
const VERIFY_MS = 5_000;
const VERIFY_AGAIN_MS = 500;

export class ShardOwner implements Stoppable {
  private readonly options: ShardOwnerOptions;
  private readonly held = new OwnedShards();
  private readonly believed: BelievedOwners;
  private readonly takeOver: TakeOver;
  private readonly handOver: HandOver;
  private readonly bumps: EpochBumps;
  private readonly takenListeners: ((shards: readonly ShardEpoch[]) => Promise<void> | void)[] = [];
  private readonly releasingListeners: ((shards: number[]) => Promise<void>)[] = [];
  private readonly lostListeners: ((shards: number[]) => void)[] = [];
  private readonly changeListeners = new Set<() => void>();
  private readonly unsubscribe: (() => void)[] = [];
  private readonly heldBackUntilMs = new Map<number, number>();
  private readonly memberSinceMs = new Map<string, number>();
  private assigned: readonly string[] = [];
  private alive = new Set<string>();
  private state: 'new' | 'running' | 'stopping' = 'new';
  /** How often this node was frozen, and how many of these times it has already checked with the database. */
  private doubts = 0;
  private doubtsSettled = 0;
  private verifyTimer: Timer | null = null;

  constructor(options: ShardOwnerOptions) {
    const { nodeId, lease, clock, logger, shardCount, membership } = options;
    const owned = this.held;
    this.options = options;
    this.believed = new BelievedOwners(shardCount);
    this.takeOver = new TakeOver({
      lease,
      clock,
      logger,
      wanted: () => this.wanted(),
      missing: () => this.assigned.some((assignee, shard) => assignee === nodeId && !this.owns(shard)),
      presence: () => membership.presence(),
      onTaken: (taken) => this.took(taken),
    });
    this.handOver = new HandOver({
      lease,
      owned,
      clock,
      logger,
      leaving: () => this.toGiveAway(),
      finish: async (shards) => void (await Promise.all(this.releasingListeners.map((listener) => listener(shards)))),
      onReleased: (shards) => this.released(shards),
    });
    this.bumps = new EpochBumps({ lease, owned, clock, logger });
  }

  /**
   * Resolves when the first round of taking has begun. @throws ShardCountMismatch, and when Postgres is unavailable.
   */
  async start(): Promise<void> {
    const { lease, shardCount, membership, peers } = this.options;
    await lease.ensureShards(shardCount);
    this.state = 'running';
    this.unsubscribe.push(
      membership.onChange(() => this.membersChanged()),
      membership.onStalled(() => this.doubt()),
      peers.onItem((from, item) => this.heard(from, item)),
      peers.onConnected((nodeId) => this.linked(nodeId)),
    );
    for (const nodeId of peers.connected()) this.linked(nodeId);
    this.membersChanged();
    this.verifyLater(VERIFY_MS);
  }

  /** Gives every shard away and notifies the others, which have them within a few round trips. */
  async stop(): Promise<void> {
    if (this.state === 'stopping') return;
    this.state = 'stopping';
    this.verifyTimer?.cancel();
    await Promise.all([this.takeOver.stop(), this.options.membership.leave()]);
    await this.handOver.stop();
    for (const unsubscribe of this.unsubscribe) unsubscribe();
  }

  owns(shard: number): boolean {
    return this.held.epochOf(shard) !== null;
  }

  epochOf(shard: number): number | null {
    return this.held.epochOf(shard);
  }

  get ownedCount(): number {
    return this.held.size;
  }

  /** Returns the shards that this node believes to own, ascending. */
  owned(): readonly number[] {
    return this.held.shards();
  }

  /** Returns the shard for the next new run: the node's shards in turn, null when none may be used now. */
  nextStartShard(): number | null {
    return this.doubtful() || this.state !== 'running' ? null : this.held.next();
  }

  /**
   * Returns the node to ask about a shard's runs: the owner reported over the links, or else the node that should own
   * it.
   */
  ownerOf(shard: number): string | null {
    if (this.owns(shard)) return this.options.nodeId;
    return this.believed.ownerOf(shard) ?? this.assigned[shard] ?? null;
  }

  /** A commit under exactly these epochs was refused. */
  lost(shards: readonly ShardEpoch[]): void {
    const dropped = this.held.drop(shards).map(({ shard }) => shard);
    if (dropped.length === 0) return;
    const untilMs = this.options.clock.monotonicMs() + AFTER_LOSS_MS;
    for (const shard of dropped) this.heldBackUntilMs.set(shard, untilMs);
    this.options.logger.info({ shards: dropped.length, owned: this.held.size }, 'shards lost');
    for (const listener of this.lostListeners) listener(dropped);
    this.changed();
    this.takeOver.wake();
  }

  /**
   * Settles a commit without a reply: once this has resolved, its outcome is decided and can be read, and the shards
   * either have a new epoch or are lost. Takes as long as the old statement holds its locks.
   */
  async bump(shards: readonly number[]): Promise<void> {
    const { kept, lost, orphaned } = await this.bumps.run(shards);
    if (lost.length > 0) this.lost(lost);
    if (orphaned.length > 0) this.handOver.releaseAlso(orphaned);
    if (kept.length > 0) this.tellTaken(kept);
  }

  /** Called after a take-over, with the new epochs. */
  onTaken(listener: (shards: readonly ShardEpoch[]) => Promise<void> | void): void {
    this.takenListeners.push(listener);
  }

  /**
   * Called before a planned move: the listener finishes the batch in flight and drops the actors. The wait ends after 2
   * s.
   */
  onReleasing(listener: (shards: number[]) => Promise<void>): void {
    this.releasingListeners.push(listener);
  }

  /** Called when another node has the shards: the listener drops the actors, whose changes were or will be refused. */
  onLost(listener: (shards: number[]) => void): void {
    this.lostListeners.push(listener);
  }

  /** Called when the set of owned shards has changed. */
  onChange(listener: () => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  private membersChanged(): void {
    const { membership, shardCount, clock } = this.options;
    const members = membership.members().map(({ nodeId }) => nodeId);
    this.assigned = assignShards(shardCount, members);
    const nowAlive = new Set(membership.presence()?.alive ?? this.alive);
    for (const nodeId of this.alive) if (!nowAlive.has(nodeId)) this.believed.forget(nodeId);
    this.alive = nowAlive;
    for (const nodeId of this.memberSinceMs.keys()) if (!members.includes(nodeId)) this.memberSinceMs.delete(nodeId);
    for (const nodeId of members) {
      if (this.memberSinceMs.has(nodeId)) continue;
      this.memberSinceMs.set(nodeId, clock.monotonicMs());
      clock.after(UNLINKED_MS, () => this.handOver.wake());
    }
    this.heldBackUntilMs.clear();
    if (this.state !== 'running') return;
    this.takeOver.wake();
    this.handOver.wake();
  }

  private wanted(): number[] {
    const nowMs = this.options.clock.monotonicMs();
    return this.shardsWhere((shard, assignee) => {
      if (assignee !== this.options.nodeId || this.owns(shard)) return false;
      return (this.heldBackUntilMs.get(shard) ?? 0) <= nowMs;
    });
  }

  private toGiveAway(): number[] {
    const { nodeId, peers, clock } = this.options;
    const readyBeforeMs = clock.monotonicMs() - UNLINKED_MS;
    const ready = new Set(peers.connected());
    for (const [member, sinceMs] of this.memberSinceMs) if (sinceMs <= readyBeforeMs) ready.add(member);
    return this.shardsWhere((shard, assignee) => assignee !== nodeId && this.owns(shard) && ready.has(assignee));
  }

  private shardsWhere(matches: (shard: number, assignee: string) => boolean): number[] {
    const shards: number[] = [];
    for (const [shard, assignee] of this.assigned.entries()) if (matches(shard, assignee)) shards.push(shard);
    return shards;
  }

  private took(taken: readonly ShardEpoch[]): void {
    this.held.add(taken);
    this.options.logger.info({ shards: taken.length, owned: this.held.size }, 'shards taken');
    this.tellTaken(taken);
    for (const listener of this.takenListeners) {
      const done = (async () => listener(taken))();
      done.catch((error: unknown) => this.options.logger.error({ error }, 'take-over failed'));
    }
    this.changed();
  }

  private released(shards: readonly number[]): void {
    const { membership, nodeId, peers } = this.options;
    for (const member of membership.members()) {
      const theirs = shards.filter((shard) => this.assigned[shard] === member.nodeId);
      if (theirs.length === 0 || member.nodeId === nodeId) continue;
      peers.send(member.nodeId, { item: { case: 'released', value: { shards: theirs } } });
    }
    this.options.logger.info({ shards: shards.length, owned: this.held.size }, 'shards released');
    this.changed();
    this.takeOver.wake();
  }

  private tellTaken(shards: readonly ShardEpoch[]): void {
    for (const nodeId of this.options.peers.connected()) this.sendTaken(nodeId, shards, false);
  }

  private sendTaken(nodeId: string, shards: readonly ShardEpoch[], whole: boolean): void {
    this.options.peers.send(nodeId, { item: { case: 'taken', value: { shards: [...shards], whole } } });
  }

  private linked(nodeId: string): void {
    this.sendTaken(nodeId, this.held.entries(), true);
    if (this.state === 'running') this.handOver.wake();
  }

  private heard(from: string, { item }: PeerItem): void {
    if (item.case === 'taken') {
      const { shards, whole } = item.value;
      this.believed.taken(from, shards, whole);
      this.lost(shards.filter(({ shard, epoch }) => epoch > (this.epochOf(shard) ?? epoch)));
    } else if (item.case === 'released') {
      const { shards } = item.value;
      this.believed.released(from, shards);
      // Both members assign a shard to the same one of them. If that one gives up what it should have, it is leaving.
      const leaving = this.state === 'running' && shards.some((shard) => this.assigned[shard] === from);
      if (leaving) this.options.membership.leavingNow(from);
      for (const shard of shards) this.heldBackUntilMs.delete(shard);
      if (this.state === 'running') this.takeOver.wake();
    }
  }

  /** Begins no new work on shards that others may own by now, until the database has been checked. */
  private doubt(): void {
    this.doubts++;
    void this.verify();
  }

  private doubtful(): boolean {
    return this.doubtsSettled < this.doubts;
  }

  private verifyLater(delayMs: number): void {
    this.verifyTimer?.cancel();
    if (this.state !== 'running') return;
    this.verifyTimer = this.options.clock.after(delayMs, () => void this.verify());
  }

  // Looks for traces of a lost reply or a long stop.
  private async verify(): Promise<void> {
    const { lease, logger } = this.options;
    const { doubts } = this;
    const before = this.held.entries();
    const quiet = () => !this.takeOver.busy && !this.bumps.busy;
    const wasQuiet = quiet();
    try {
      const rows = new Map((await lease.mine()).map(({ shard, epoch }) => [shard, epoch]));
      const otherwise = ({ shard, epoch }: ShardEpoch) => rows.get(shard) !== epoch && this.epochOf(shard) === epoch;
      if (!this.bumps.busy) this.lost(before.filter(otherwise));
      if (wasQuiet && quiet()) this.dropOrphans(rows);
      this.doubtsSettled = doubts;
      this.verifyLater(VERIFY_MS);
    } catch (error) {
      logger.debug({ error }, 'shards not verified');
      this.verifyLater(this.doubtful() ? VERIFY_AGAIN_MS : VERIFY_MS);
    }
  }

  /** Releases rows that name this node as owner of shards it does not hold: no other node could ever take them. */
  private dropOrphans(rows: ReadonlyMap<number, number>): void {
    const orphans: ShardEpoch[] = [];
    for (const [shard, epoch] of rows) {
      if (!this.owns(shard) && !this.handOver.releasing(shard) && this.assigned[shard] !== this.options.nodeId) {
        orphans.push({ shard, epoch });
      }
    }
    if (orphans.length > 0) this.handOver.releaseAlso(orphans);
  }

  private changed(): void {
    for (const listener of [...this.changeListeners]) listener();
  }
}
