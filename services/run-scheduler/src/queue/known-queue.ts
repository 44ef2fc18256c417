// What a node knows of one queue: some of its oldest entries in order, and where to read on.
import type { QueueCursor, QueueEntry, QueueKey } from '../store/run-store.ts';

export interface KnownQueue {
  readonly key: QueueKey;
  readonly orgId: string;
  entries: QueueEntry[];
  /** Rows beyond the cursor may exist that are not among the entries. */
  more: boolean;
  /** No page will bring what is not beyond this. */
  cursor: QueueCursor;
  /** Queued while a statement was under way, so perhaps not in what it brings. */
  late: QueueEntry[];
  /** In line to be read, or being read. */
  state: 'still' | 'in_line' | 'reading';
  /** Who waits for what the next read brings. */
  takers: (() => void)[];
  /** The last statement failed; the next recheck tries again. */
  failed: boolean;
  /** Other nodes may believe that something waits here. */
  told: boolean;
}

/** A cursor of its own each time: what was read from a cursor that was replaced meanwhile no longer counts. */
export const atStart = (): QueueCursor => ({ queuedAtMs: 0, runId: '' });

export function newQueue(key: QueueKey): KnownQueue {
  return {
    key,
    orgId: key.orgId,
    entries: [],
    more: true,
    cursor: atStart(),
    late: [],
    state: 'still',
    takers: [],
    failed: false,
    told: false,
  };
}

export function queueName(key: QueueKey): string {
  return `${key.orgId}/${key.method}`;
}

/** Nothing is at hand and nothing is being done about it. */
export function seemsEmpty(queue: KnownQueue): boolean {
  return queue.entries.length === 0 && queue.state === 'still';
}

/** Nothing is at hand, but something may be there. */
export function isUnknown(queue: KnownQueue): boolean {
  return queue.entries.length === 0 && (queue.more || queue.state !== 'still');
}

/** A statement begins: what is queued from here on may be missing in what it brings. */
export function beginRead(queue: KnownQueue): QueueCursor {
  queue.state = 'reading';
  queue.more = false;
  queue.failed = false;
  queue.late = [];
  return queue.cursor;
}

/** Each run is there once. Thousands may come that belong before thousands: a place is not looked for one by one. */
export function insertInOrder(entries: QueueEntry[], entry: QueueEntry): void {
  let from = 0;
  let to = entries.length;
  // Nearly always it is the last one.
  if (to > 0 && !isAfter(entries[to - 1] as QueueEntry, entry)) from = to;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isAfter(entries[middle] as QueueEntry, entry)) to = middle;
    else from = middle + 1;
  }
  if (entries[to - 1]?.runId === entry.runId) return;
  entries.splice(to, 0, entry);
}

export function isAfter(a: QueueCursor, b: QueueCursor): boolean {
  return a.queuedAtMs > b.queuedAtMs || (a.queuedAtMs === b.queuedAtMs && a.runId > b.runId);
}
