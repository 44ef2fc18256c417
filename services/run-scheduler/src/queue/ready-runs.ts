// The heads of this node's queues: the oldest queued runs of each (organization, method) over the shards owned
// here, for queues that a connected worker asks for. Finds a run to offer and never decides; the row decides.
import type { Logger } from '@methods/logging/logger';
import { queuePlaceMs } from '../run/queue-place.ts';
import type { Run } from '../run/run.ts';
import { queueOf } from '../store/queue-key.ts';
import type { QueueCursor, QueueEntry, QueueKey, RunStore } from '../store/run-store.ts';

/** What other nodes are told of a queue; depth counts what is known here, at least 1 when there is any. */
export interface QueueHead {
  readonly depth: number;
  readonly queuedAtMs: number;
  readonly runId: string;
}

const PAGE = 256;
const ENTRIES_MAX = 50_000;
/** A page is fetched before the head runs dry. */
const LOW = 64;
/** Queues looked at in one statement. */
const LOOK_MAX = 1_000;
/** Runs queued while one page is read; beyond this the queue is read anew. */
const LATE_MAX = 1_000;
/** A cursor of its own each time: a page read from a cursor that was replaced meanwhile no longer counts. */
const atStart = (): QueueCursor => ({ queuedAtMs: 0, runId: '' });

interface Queue {
  readonly key: QueueKey;
  entries: QueueEntry[];
  /** Rows beyond the cursor may exist that are not among the entries. */
  more: boolean;
  /** No page will bring what is not beyond this. */
  cursor: QueueCursor;
  /** Queued while a page was being read, so perhaps not in it. */
  late: QueueEntry[];
  loading: Promise<void> | null;
  /** The last page could not be read; the next recheck tries again. */
  failed: boolean;
}

export class ReadyRuns {
  private readonly queues = new Map<string, Queue>();
  private readonly changed = new Set<string>();
  private entryCount = 0;

  constructor(
    private readonly options: {
      readonly store: RunStore;
      readonly logger: Logger;
      readonly ownedShards: () => readonly number[];
      /** Called at the end of a turn for each queue whose head changed; null: empty. */
      readonly announce: (key: QueueKey, head: QueueHead | null) => void;
    },
  ) {}

  /** Some node has workers for this queue: from now on its head is kept. */
  wanted(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue !== undefined) return this.touch(queue);
    const fresh = { key, entries: [], more: true, cursor: atStart(), late: [], loading: null, failed: false };
    this.queues.set(queueName(key), fresh);
    void this.load(fresh);
  }

  /** No node asks for this queue any more. */
  unwanted(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    this.entryCount -= queue.entries.length;
    this.queues.delete(queueName(key));
  }

  committed(before: Run | null, after: Run): void {
    if (after.status !== 'queued') return;
    const { runId, shard } = after.facts;
    if (before?.status === 'queued' && before.stateSinceMs === after.stateSinceMs) return;
    this.added(queueOf(after.facts), { runId, shard, queuedAtMs: queuePlaceMs(after) });
  }

  /** A run was queued by a commit of this node. */
  added(key: QueueKey, entry: QueueEntry): void {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    if (queue.loading !== null && isAfter(entry, queue.cursor)) {
      if (queue.late.length < LATE_MAX) queue.late.push(entry);
      else this.restart(queue);
      return;
    }
    const full = queue.more || queue.entries.length >= PAGE || this.entryCount >= ENTRIES_MAX;
    // Commits do not come in the order of their times: what is older than the last page is in no page to come.
    if (full && isAfter(entry, queue.cursor)) {
      queue.more = true;
      if (queue.entries.length === 0) void this.load(queue);
      return;
    }
    this.insert(queue, [entry]);
    this.makeRoom(queue);
    this.touch(queue);
  }

  /** True when nothing of this queue is known to wait here, so that a new run may be claimed at once. */
  isEmpty(key: QueueKey): boolean {
    const queue = this.queues.get(queueName(key));
    return queue !== undefined && queue.entries.length === 0 && !queue.more && queue.loading === null;
  }

  /** The oldest entry, taken out; null when the queue is empty. */
  async take(key: QueueKey): Promise<QueueEntry | null> {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return null;
    // Asked last, dropped last.
    this.queues.delete(queueName(key));
    this.queues.set(queueName(key), queue);
    if (queue.entries.length === 0 && queue.more) await this.load(queue);
    const entry = queue.entries.shift() ?? null;
    if (entry !== null && this.queues.get(queueName(key)) === queue) this.entryCount--;
    if (queue.more && queue.entries.length < LOW) void this.load(queue);
    this.touch(queue);
    return entry;
  }

  /** Shards came or went: what is known of any queue may be wrong. */
  reset(): void {
    for (const queue of this.queues.values()) this.restart(queue);
  }

  /** Announces the head at the end of this turn, changed or not. */
  tellAgain(key: QueueKey): void {
    const queue = this.queues.get(queueName(key));
    if (queue !== undefined) this.touch(queue);
  }

  /** Announces every queue where something waits. */
  tellHeads(): void {
    for (const queue of this.queues.values()) if (queue.entries.length > 0) this.touch(queue);
  }

  /** Looks once more at queues that seem empty, at all of them together: the answer to a lost wake-up. */
  recheckEmpty(): void {
    const empty: QueueKey[] = [];
    for (const queue of this.queues.values()) {
      if (!seemsEmpty(queue)) continue;
      if (queue.more) this.restart(queue);
      else empty.push(queue.key);
    }
    for (let from = 0; from < empty.length; from += LOOK_MAX) void this.look(empty.slice(from, from + LOOK_MAX));
  }

  private async look(keys: readonly QueueKey[]): Promise<void> {
    try {
      for (const key of await this.options.store.queuesNotEmpty(keys, this.options.ownedShards())) {
        const queue = this.queues.get(queueName(key));
        if (queue !== undefined && seemsEmpty(queue)) this.restart(queue);
      }
    } catch (error) {
      this.options.logger.warn({ error }, 'empty queues could not be looked at');
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

  private restart(queue: Queue): void {
    this.entryCount -= queue.entries.length;
    queue.entries = [];
    queue.cursor = atStart();
    queue.more = true;
    void this.load(queue);
  }

  private load(queue: Queue): Promise<void> {
    queue.loading ??= this.loadPage(queue).finally(() => {
      queue.loading = null;
      this.touch(queue);
      // Something was added while the page was read: it may stand behind it.
      if (queue.more && queue.entries.length === 0 && !queue.failed) void this.load(queue);
    });
    return queue.loading;
  }

  private async loadPage(queue: Queue): Promise<void> {
    const from = queue.cursor;
    queue.more = false;
    queue.failed = false;
    queue.late = [];
    try {
      const page = await this.options.store.queuePage(queue.key, from, this.options.ownedShards(), PAGE);
      if (this.queues.get(queueName(queue.key)) !== queue) return;
      if (queue.cursor === from) {
        this.insert(queue, page);
        const last = page[page.length - 1];
        if (last !== undefined) queue.cursor = { queuedAtMs: last.queuedAtMs, runId: last.runId };
        if (page.length === PAGE) queue.more = true;
      }
      for (const entry of queue.late.splice(0)) {
        if (isAfter(entry, queue.cursor)) queue.more = true;
        else this.insert(queue, [entry]);
      }
      this.makeRoom(queue);
    } catch (error) {
      queue.more = true;
      queue.failed = true;
      this.options.logger.warn({ error }, 'queue page could not be read');
    }
  }

  private insert(queue: Queue, entries: readonly QueueEntry[]): void {
    const before = queue.entries.length;
    for (const entry of entries) insertInOrder(queue.entries, entry);
    this.entryCount += queue.entries.length - before;
  }

  /** Queues nobody took from for longest are cut to their head; the rest is read again when they are asked. */
  private makeRoom(forQueue: Queue): void {
    for (const queue of this.queues.values()) {
      if (this.entryCount <= ENTRIES_MAX) return;
      const head = queue.entries[0];
      if (queue === forQueue || head === undefined) continue;
      this.entryCount -= queue.entries.length - 1;
      queue.entries = [head];
      queue.cursor = { queuedAtMs: head.queuedAtMs, runId: head.runId };
      queue.more = true;
    }
  }

  private touch(queue: Queue): void {
    if (this.changed.size === 0) setImmediate(() => this.announceChanged());
    this.changed.add(queueName(queue.key));
  }

  private announceChanged(): void {
    const names = [...this.changed];
    this.changed.clear();
    for (const name of names) {
      const queue = this.queues.get(name);
      if (queue !== undefined) this.options.announce(queue.key, this.headOf(queue.key));
    }
  }
}

export function queueName(key: QueueKey): string {
  return `${key.orgId}/${key.method}`;
}

function seemsEmpty(queue: Queue): boolean {
  return queue.entries.length === 0 && queue.loading === null;
}

function insertInOrder(entries: QueueEntry[], entry: QueueEntry): void {
  let at = entries.length;
  while (at > 0 && isAfter(entries[at - 1] as QueueEntry, entry)) at--;
  if (at > 0 && entries[at - 1]?.runId === entry.runId) return;
  entries.splice(at, 0, entry);
}

function isAfter(a: QueueCursor, b: QueueCursor): boolean {
  return a.queuedAtMs > b.queuedAtMs || (a.queuedAtMs === b.queuedAtMs && a.runId > b.runId);
}
