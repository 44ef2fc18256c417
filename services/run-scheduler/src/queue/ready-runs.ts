// The heads of this node's queues: the oldest queued runs of each (organization, method) over the shards owned here,
// for queues that a connected worker requests. It finds a run to offer and never decides; the row decides. Only the
// oldest run of a queue is known until a worker takes it; only then a page of the queue is read.
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import { queuePlaceMs } from '../run/queue-place.ts';
import type { Run } from '../run/run.ts';
import { queueOf } from '../store/queue-key.ts';
import type { QueueCursor, QueueEntry, QueueKey, QueueStretch, RunStore } from '../store/run-store.ts';
import {
  atStart,
  beginRead,
  insertInOrder,
  inTurn,
  isAfter,
  isUnknown,
  type KnownQueue,
  newQueue,
  queueName,
  seemsEmpty,
} from './known-queue.ts';
import { QueueReads } from './queue-reads.ts';

/** The announcement of a queue to other nodes; depth counts the entries known here, at least 1 when there is any. */
export interface QueueHead {
  readonly depth: number;
  readonly queuedAtMs: number;
  readonly runId: RunId;
}

const PAGE = 256;
const ENTRIES_MAX = 50_000;
/** Per queue: runs that wake in thousands keep their old places, and each would shift all entries behind it. */
const QUEUE_ENTRIES_MAX = 2_048;
/** A page is read when fewer entries remain. */
const LOW = 64;
/** Queues that one recheck looks at, and that one round announces: the others follow in the next. */
const RECHECKED_MAX = 2_000;
const TOLD_MAX = 2_000;
/** A queue with many runs of other nodes before the first of this one is searched only by every nth recheck. */
const WALK_EVERY = 12;
/** Pages that one free place waits for. */
const READS_MAX = 4;
/** Runs queued while one page is read; with more of them the queue is read again. */
const LATE_MAX = 1_000;

export class ReadyRuns {
  private readonly queues = new Map<string, KnownQueue>();
  private readonly changed = new Set<string>();
  private readonly reads = new QueueReads<KnownQueue>({
    heads: (queues) => this.readHeads(queues),
    page: (queue) => this.readPage(queue),
  });
  private entryCount = 0;
  private rechecks = 0;
  private rechecking = false;
  private recheckFrom = 0;
  private tellFrom = 0;

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly logger: Logger;
      readonly ownedShards: () => readonly number[];
      /** Called at the end of a turn for each queue whose head changed; null: empty. */
      readonly announce: (key: QueueKey, head: QueueHead | null) => void;
    },
  ) {}

  /** A node has workers for this queue: its head is kept from now on. */
  wanted(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue !== undefined) return this.touch(queue);
    const fresh = newQueue(key);
    this.queues.set(queueName(key), fresh);
    this.read(fresh);
  }

  /** No node requests this queue any more. */
  unwanted(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    this.entryCount -= queue.entries.length;
    this.queues.delete(queueName(key));
    this.reads.forget(queue);
    for (const taker of queue.takers.splice(0)) taker();
  }

  committed(before: Run | null, after: Run): void {
    if (before?.status !== 'queued' && after.status !== 'queued') return;
    const key = queueOf(after.facts);
    const { runId, shard } = after.facts;
    if (after.status !== 'queued') {
      const queue = this.queues.get(queueName(key));
      if (queue !== undefined) queue.wasLeft = true;
    } else if (before?.status !== 'queued' || before.stateSinceMs !== after.stateSinceMs) {
      this.added(key, { runId, shard, queuedAtMs: queuePlaceMs(after) });
    }
  }

  /** A run was queued by a commit of this node. */
  added(key: QueueKey, entry: QueueEntry): void {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    if (queue.state === 'reading' && isAfter(entry, queue.cursor)) {
      if (queue.late.length < LATE_MAX) queue.late.push(entry);
      else this.restart(queue);
      return;
    }
    const full = queue.more || queue.entries.length >= PAGE || this.entryCount >= ENTRIES_MAX;
    // Commits do not happen in the order of their times: an entry older than the last page is in no later page.
    if (full && isAfter(entry, queue.cursor)) {
      queue.more = true;
      if (queue.entries.length === 0) this.read(queue);
      return;
    }
    this.insert(queue, [entry]);
    if (queue.entries.length > QUEUE_ENTRIES_MAX) this.cut(queue, QUEUE_ENTRIES_MAX / 2);
    this.makeRoom(queue);
    this.touch(queue);
  }

  /** True when nothing of this queue is known to wait here, so that a new run may be claimed at once. */
  isEmpty(key: QueueKey): boolean {
    const queue = this.queues.get(queueName(key));
    return queue !== undefined && queue.entries.length === 0 && !queue.more && queue.state === 'still';
  }

  /** Takes out the oldest entry; null when the queue is empty. */
  async take(key: QueueKey): Promise<QueueEntry | null> {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return null;
    // Requested last, dropped last.
    this.queues.delete(queueName(key));
    this.queues.set(queueName(key), queue);
    // One page is usually enough, unless other workers take its runs or runs of other nodes come before them.
    for (let reads = 0; reads < READS_MAX && isUnknown(queue); reads++) {
      await this.nextRead(queue);
      if (queue.failed || !this.isKept(queue)) break;
    }
    const entry = queue.entries.shift() ?? null;
    if (!this.isKept(queue)) return entry;
    if (entry !== null) this.entryCount--;
    else queue.told = true;
    if (queue.more && queue.entries.length < LOW) this.readPageOf(queue);
    this.touch(queue);
    return entry;
  }

  /** Shards were taken or lost: the known entries of any queue may be wrong. */
  reset(): void {
    for (const queue of this.queues.values()) this.restart(queue);
  }

  /** Announces the head at the end of this turn, even if it is unchanged. */
  tellAgain(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    queue.told = true;
    this.touch(queue);
  }

  /** Announces queues with waiting runs, a bounded number in each round, in turn. */
  tellHeads(): void {
    const turn = inTurn(this.queues.values(), this.tellFrom, TOLD_MAX);
    this.tellFrom = turn.next;
    for (const queue of turn.queues) if (queue.entries.length > 0) this.touch(queue);
  }

  /**
   * Looks at the heads of queues that seem empty, many by one statement and in turn, since a wake-up may be lost; and of
   * those that runs have left. Until a vacuum the index lists these runs before the head, and the first read that passes
   * over them marks their entries for the next: so none has to pass over all that have left a long queue.
   */
  async recheck(): Promise<void> {
    if (this.rechecking) return;
    this.rechecking = true;
    const walk = this.rechecks++ % WALK_EVERY === 0;
    const turn = inTurn(this.queues.values(), this.recheckFrom, RECHECKED_MAX);
    this.recheckFrom = turn.next;
    for (const queue of this.queues.values()) if (queue.failed && seemsEmpty(queue)) this.restart(queue);
    const looked = turn.queues.filter((queue) => queue.wasLeft || (seemsEmpty(queue) && !queue.more));
    try {
      if (looked.length > 0) await this.look(looked, walk);
    } catch (error) {
      this.options.logger.warn({ error }, 'heads of queues could not be looked at');
    }
    this.rechecking = false;
  }

  private async look(queues: readonly KnownQueue[], walk: boolean): Promise<void> {
    const keys = queues.map((queue) => queue.key);
    for (const queue of queues) queue.wasLeft = false;
    const heads = await this.options.store.queueHeads(keys, this.options.ownedShards());
    for (const [i, queue] of queues.entries()) {
      const head = heads[i];
      const found = head !== undefined && (head.entries.length > 0 || (walk && head.end !== null));
      if (found && this.isKept(queue) && seemsEmpty(queue) && !queue.more) this.restart(queue);
    }
  }

  /** Entries held, of all queues together. */
  get size(): number {
    return this.entryCount;
  }

  headOf(key: QueueKey): QueueHead | null {
    const queue = this.queues.get(queueName(key));
    const first = queue?.entries[0];
    if (queue === undefined || first === undefined) return null;
    return { depth: queue.entries.length, queuedAtMs: first.queuedAtMs, runId: first.runId };
  }

  private restart(queue: KnownQueue): void {
    this.entryCount -= queue.entries.length;
    queue.entries = [];
    queue.cursor = atStart();
    queue.more = true;
    this.read(queue);
  }

  /** Reads a page if a caller waits for it, or if a part of the queue was searched in vain; else only the head. */
  private read(queue: KnownQueue): void {
    if (queue.takers.length > 0 || queue.cursor.runId !== '') return this.readPageOf(queue);
    if (queue.state !== 'still') return;
    queue.state = 'in_line';
    this.reads.wantHead(queue);
  }

  private readPageOf(queue: KnownQueue): void {
    if (queue.state === 'reading') return;
    queue.state = 'in_line';
    this.reads.wantPage(queue);
  }

  private nextRead(queue: KnownQueue): Promise<void> {
    return new Promise((resolve) => {
      queue.takers.push(resolve);
      this.readPageOf(queue);
    });
  }

  private async readHeads(queues: readonly KnownQueue[]): Promise<void> {
    const begun = queues.map((queue) => ({ queue, from: beginRead(queue) }));
    try {
      const keys = queues.map((queue) => queue.key);
      const heads = await this.options.store.queueHeads(keys, this.options.ownedShards());
      for (const [i, { queue, from }] of begun.entries()) this.brought(queue, from, heads[i] ?? null);
    } catch (error) {
      for (const { queue } of begun) this.readFailed(queue);
      this.options.logger.warn({ error, queues: queues.length }, 'heads of queues could not be read');
    }
  }

  private async readPage(queue: KnownQueue): Promise<void> {
    const from = beginRead(queue);
    try {
      const owned = this.options.ownedShards();
      this.brought(queue, from, await this.options.store.queuePage(queue.key, from, owned, PAGE));
    } catch (error) {
      this.readFailed(queue);
      this.options.logger.warn({ error }, 'queue page could not be read');
    }
  }

  private brought(queue: KnownQueue, from: QueueCursor, stretch: QueueStretch | null): void {
    if (this.isKept(queue)) {
      // If shards were taken or lost meanwhile, the result no longer counts and everything is read again.
      if (queue.cursor === from && stretch !== null) {
        this.insert(queue, stretch.entries);
        const last = stretch.entries.at(-1);
        if (last !== undefined) queue.cursor = { queuedAtMs: last.queuedAtMs, runId: last.runId };
        if (stretch.end !== null) [queue.cursor, queue.more] = [stretch.end, true];
      }
      for (const entry of queue.late.splice(0)) {
        if (isAfter(entry, queue.cursor)) queue.more = true;
        else this.insert(queue, [entry]);
      }
      this.makeRoom(queue);
    }
    this.settle(queue);
  }

  private readFailed(queue: KnownQueue): void {
    queue.more = true;
    queue.failed = true;
    this.settle(queue);
  }

  private settle(queue: KnownQueue): void {
    queue.state = 'still';
    const takers = queue.takers.splice(0);
    for (const taker of takers) taker();
    if (!this.isKept(queue)) return;
    this.touch(queue);
    // The searched part has no run of this node, or runs behind it may have been added meanwhile.
    if (queue.more && queue.entries.length === 0 && !queue.failed) this.read(queue);
  }

  private isKept(queue: KnownQueue): boolean {
    return this.queues.get(queueName(queue.key)) === queue;
  }

  private insert(queue: KnownQueue, entries: readonly QueueEntry[]): void {
    const before = queue.entries.length;
    for (const entry of entries) insertInOrder(queue.entries, entry);
    this.entryCount += queue.entries.length - before;
  }

  /** The least recently used queues are cut to their head; the rest is read again on demand. */
  private makeRoom(forQueue: KnownQueue): void {
    for (const queue of this.queues.values()) {
      if (this.entryCount <= ENTRIES_MAX) return;
      if (queue !== forQueue) this.cut(queue, 1);
    }
  }

  /** Keeps this many of the oldest entries; pages return the rest. */
  private cut(queue: KnownQueue, entries: number): void {
    const last = queue.entries[entries - 1];
    if (last === undefined) return;
    this.entryCount -= queue.entries.length - entries;
    queue.entries = queue.entries.slice(0, entries);
    queue.cursor = { queuedAtMs: last.queuedAtMs, runId: last.runId };
    queue.more = true;
  }

  private touch(queue: KnownQueue): void {
    if (this.changed.size === 0) setImmediate(() => this.announceChanged());
    this.changed.add(queueName(queue.key));
  }

  private announceChanged(): void {
    const names = [...this.changed];
    this.changed.clear();
    for (const name of names) {
      const queue = this.queues.get(name);
      // During a read, the earlier announcement remains the best one.
      if (queue === undefined || (isUnknown(queue) && !queue.failed)) continue;
      const head = this.headOf(queue.key);
      // A queue that was always empty needs no announcement.
      if (head !== null || queue.told) this.options.announce(queue.key, head);
      queue.told = head !== null;
    }
  }
}
