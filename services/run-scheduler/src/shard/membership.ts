// Tracks the nodes that are alive, as this node sees them. It beats once a second into the bucket of beats and into its
// row, and watches the beats of the others. The result may be wrong: it decides which node tries to own a shard, never
// which one may write.
import type { Clock, Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { safeDbError } from '@methods/postgres/database-fault';
import type { Sql } from '@methods/postgres/pool';
import { BeatWatch, type NodeBeat } from './beat-watch.ts';
import { type BeatBus, BucketBeats, NodeRows } from './node-beats.ts';

export interface Member {
  readonly nodeId: string;
  /** host:port */
  readonly peerAddress: string;
}

/** The nodes that this node knows, including itself. A node in neither list is unknown. */
export interface Presence {
  /** Members, and those that are leaving: no node may take their shards. */
  readonly alive: readonly string[];
  readonly gone: readonly string[];
}

export interface MembershipOptions {
  /** New at every start of the process. */
  readonly nodeId: string;
  /** Where peers reach this node; requested from `start` on. */
  readonly peerAddress: () => string;
  readonly bus: BeatBus;
  /** Preferably a small separate pool: beats must not wait behind commits. */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly beatMs?: number;
  readonly suspectMs?: number;
}

// A row that was not renewed for this long does not count as a sign of life when it is first seen.
const FRESH_ROW_MS = 10_000;
const CHECKS_PER_BEAT = 4;
const REMOVE_OLD_MS = 60_000;
const LEAVE_MS = 150;

export class Membership implements Stoppable {
  private readonly options: MembershipOptions;
  private readonly beatMs: number;
  private readonly suspectMs: number;
  private readonly watch: BeatWatch;
  private readonly rows: NodeRows;
  private readonly bucket: BucketBeats;
  private readonly changeListeners = new Set<() => void>();
  private readonly stallListeners = new Set<(lateMs: number) => void>();
  private state: 'new' | 'running' | 'leaving' | 'stopped' = 'new';
  private beat = 0;
  private checks = 0;
  private checkedAtMs = 0;
  private timer: Timer | null = null;
  private memberList: readonly Member[] | null = null;
  private rowWriteRunning = false;
  private rowReadRunning = false;
  private rowsReadOnce = false;
  private rowReadAtMs = Number.NEGATIVE_INFINITY;
  private rowWrittenAtMs: number;
  private removedOldAtMs: number;

  constructor(options: MembershipOptions) {
    const { clock, beatMs = 1_000, suspectMs = 3_000 } = options;
    this.options = options;
    this.beatMs = beatMs;
    this.suspectMs = suspectMs;
    const nowMs = clock.monotonicMs();
    this.watch = new BeatWatch(suspectMs, nowMs);
    this.rows = new NodeRows(options.sql, 2 * beatMs);
    this.bucket = new BucketBeats(options.bus, options.logger);
    this.rowWrittenAtMs = nowMs;
    this.removedOldAtMs = nowMs;
  }

  /**
   * Announces itself, then looks for the others: in this order, so that of two nodes that start together at least one
   * sees the other. Resolves after the first look, at the latest after its deadline; never rejects.
   */
  async start(): Promise<void> {
    const { clock } = this.options;
    this.state = 'running';
    this.memberList = null;
    this.rowWrittenAtMs = clock.monotonicMs();
    this.watch.deaf(clock.monotonicMs());
    this.bucket.start((beat) => this.observe(beat, 'bucket'));
    const shown = this.sendBeat();
    this.schedule();
    await shown;
    await this.readRows([]);
  }

  /** Returns the nodes that are alive and not leaving, including this one, sorted by id. */
  members(): readonly Member[] {
    this.memberList ??= this.listMembers();
    return this.memberList;
  }

  /** Returns null until this node has looked: before that, it cannot know which nodes are absent. */
  presence(): Presence | null {
    return this.rowsReadOnce ? { alive: this.watch.alive(), gone: this.watch.gone() } : null;
  }

  /** Reports whether the node still beats, as a member or leaving. */
  isAlive(nodeId: string): boolean {
    return this.watch.isAlive(nodeId);
  }

  onChange(listener: () => void): () => void {
    this.changeListeners.add(listener);
    return () => this.changeListeners.delete(listener);
  }

  /**
   * Called when this node was frozen for `lateMs`, longer than others wait for a beat: its shards may have another
   * owner.
   */
  onStalled(listener: (lateMs: number) => void): () => void {
    this.stallListeners.add(listener);
    return () => this.stallListeners.delete(listener);
  }

  /** Marks the node as dead, for example because nothing listens at its address any more. */
  suspectNow(nodeId: string, why: string): void {
    if (nodeId === this.options.nodeId || !this.watch.suspect(nodeId)) return;
    this.options.logger.info({ node: nodeId, why }, 'node suspected');
    this.changed();
  }

  /** Marks the node as leaving, which is known before its beat reports it. */
  leavingNow(nodeId: string): void {
    if (this.watch.leaving(nodeId, this.options.clock.monotonicMs())) this.changed();
  }

  /** Announces that this node leaves; waits for that briefly. Safe to repeat. */
  async leave(): Promise<void> {
    if (this.state !== 'running') return;
    this.state = 'leaving';
    const beat = this.nextBeat();
    const told = Promise.allSettled([this.bucket.put(beat), this.rows.write(beat)]);
    await Promise.race([told, new Promise<void>((resolve) => this.options.clock.after(LEAVE_MS, resolve))]);
    this.changed();
  }

  stop(): void {
    this.state = 'stopped';
    this.timer?.cancel();
    this.bucket.stop();
  }

  // A node that knows no other cannot suspect one between two beats.
  private schedule(): void {
    const { clock, nodeId } = this.options;
    const alone = this.watch.alive().every((alive) => alive === nodeId);
    const checks = alone ? CHECKS_PER_BEAT - this.checks : 1;
    this.checkedAtMs = clock.monotonicMs();
    this.timer = clock.after((this.beatMs / CHECKS_PER_BEAT) * checks, () => {
      if (this.state === 'stopped') return;
      this.checks += checks;
      this.step();
      this.schedule();
    });
  }

  private step(): void {
    const nowMs = this.options.clock.monotonicMs();
    const lateMs = nowMs - this.checkedAtMs - this.beatMs / CHECKS_PER_BEAT;
    if (lateMs > this.suspectMs) {
      this.watch.deaf(nowMs);
      this.options.logger.warn({ late_ms: Math.round(lateMs) }, 'node was frozen');
      for (const listener of this.stallListeners) listener(lateMs);
    }
    if (this.checks >= CHECKS_PER_BEAT || lateMs > this.beatMs) {
      this.checks = 0;
      void this.sendBeat();
    }
    this.checkOthers(nowMs);
    if (nowMs - this.removedOldAtMs > REMOVE_OLD_MS) this.removeOldRows(nowMs);
  }

  private nextBeat(): NodeBeat {
    const { nodeId, peerAddress } = this.options;
    return { nodeId, peerAddress: peerAddress(), beat: ++this.beat, leaving: this.state !== 'running' };
  }

  // Reports whether this node is cut off from Postgres. It can then own nothing: the others may have its shards until
  // it is back. A beat that reaches its row disproves that.
  private cutOff(): boolean {
    return this.options.clock.monotonicMs() - this.rowWrittenAtMs > this.suspectMs + 2 * this.beatMs;
  }

  // Sends the beat both ways every time; neither waits for the other.
  private async sendBeat(): Promise<void> {
    const { clock } = this.options;
    const beat = this.nextBeat();
    this.watch.observe(beat, 'rows', clock.monotonicMs());
    this.bucket.putIfIdle({ ...beat, leaving: beat.leaving || this.cutOff() });
    if (this.rowWriteRunning) return;
    this.rowWriteRunning = true;
    const startedAtMs = clock.monotonicMs();
    try {
      await this.rows.write(beat);
      this.rowWrittenAtMs = startedAtMs;
    } catch (error) {
      this.rowsFailed(error);
    } finally {
      this.rowWriteRunning = false;
    }
  }

  private checkOthers(nowMs: number): void {
    if (this.rowReadRunning) return;
    const silent = this.watch.silent(nowMs).filter((nodeId) => nodeId !== this.options.nodeId);
    const due = nowMs - this.rowReadAtMs >= this.beatMs;
    // Includes its own beat: if that does not arrive, the bucket cannot be read.
    if (silent.length > 0 || (due && this.watch.missingInBucket(nowMs, 2 * this.beatMs))) void this.readRows(silent);
  }

  /** No node is suspected without this second source. */
  private async readRows(silent: readonly string[]): Promise<void> {
    const { clock, logger } = this.options;
    this.rowReadRunning = true;
    this.rowReadAtMs = clock.monotonicMs();
    try {
      const beats = await this.rows.read();
      if (this.state === 'stopped') return;
      const first = !this.rowsReadOnce;
      this.rowsReadOnce = true;
      for (const beat of beats) this.observe(beat, 'rows', beat.ageMs < FRESH_ROW_MS);
      if (first) this.changed();
      const still = new Set(this.watch.silent(clock.monotonicMs()));
      for (const nodeId of silent) if (still.has(nodeId)) this.suspectNow(nodeId, 'silent');
    } catch (error) {
      this.rowsFailed(error);
      if (this.state !== 'stopped') logger.debug({ error }, 'rows of nodes not read');
    } finally {
      this.rowReadRunning = false;
    }
  }

  // While rows cannot be read, a node that appears only there looks dead.
  private readonly rowsFailed = (error: unknown): void => {
    if (this.state === 'stopped') return;
    this.watch.deaf(this.options.clock.monotonicMs());
    this.options.logger.debug({ ...safeDbError(error) }, 'beat rows failed');
  };

  private observe(beat: NodeBeat, source: 'bucket' | 'rows', fresh = true): void {
    if (this.state === 'stopped') return;
    const { nodeId, peerAddress, clock } = this.options;
    // Another node at this node's address is a process that was here before.
    const earlier = beat.nodeId !== nodeId && beat.peerAddress === peerAddress();
    if (this.watch.observe(beat, source, clock.monotonicMs(), fresh && !earlier)) this.changed();
  }

  private removeOldRows(nowMs: number): void {
    this.removedOldAtMs = nowMs;
    this.rows.removeOld().catch(this.rowsFailed);
  }

  private listMembers(): Member[] {
    const { nodeId, peerAddress } = this.options;
    const others = this.watch.members().filter((member) => member.nodeId !== nodeId);
    if (this.state !== 'running') return others;
    const all = [...others, { nodeId, peerAddress: peerAddress() }];
    return all.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  }

  private changed(): void {
    this.memberList = null;
    for (const listener of [...this.changeListeners]) listener();
  }
}
