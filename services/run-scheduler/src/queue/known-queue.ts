// A node's view of one queue: some of its oldest entries in order, and the position at which to continue reading.
import type { OrgId } from '@methods/base/ids';
import type { QueueCursor, QueueEntry, QueueKey } from '../store/run-store.ts';

export interface KnownQueue {
  readonly key: QueueKey;
  readonly orgId: OrgId;
  entries: QueueEntry[];
  /** Rows beyond the cursor may exist that are not among the entries. */
  more: boolean;
  /** Pages return only entries beyond this. */
  cursor: QueueCursor;
  /** Queued while a statement was in flight, so its result may lack them. */
  late: QueueEntry[];
  /** In line to be read, or being read. */
  state: 'still' | 'in_line' | 'reading';
  /** Waiters for the result of the next read. */
  takers: (() => void)[];
  /** The last statement failed; the next recheck tries again. */
  failed: boolean;
  /** Other nodes may believe that a run waits here. */
  told: boolean;
  /** Runs have left it since its head was last looked at. */
  wasLeft: boolean;
}

/** A new cursor each time: the result for a replaced cursor no longer counts. */
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
    wasLeft: false,
  };
}

export function queueName(key: QueueKey): string {
  return `${key.orgId}/${key.method}`;
}

/** There is no entry and no read under way. */
export function seemsEmpty(queue: KnownQueue): boolean {
  return queue.entries.length === 0 && queue.state === 'still';
}

/** There is no entry, but there may be rows. */
export function isUnknown(queue: KnownQueue): boolean {
  return queue.entries.length === 0 && (queue.more || queue.state !== 'still');
}

/** A statement begins: runs queued from here on may be missing in its result. */
export function beginRead(queue: KnownQueue): QueueCursor {
  queue.state = 'reading';
  queue.more = false;
  queue.failed = false;
  queue.late = [];
  return queue.cursor;
}

/** The queues from the `from`th on, and where the next round begins. */
export function inTurn(
  all: Iterable<KnownQueue>,
  from: number,
  queuesMax: number,
): { readonly queues: KnownQueue[]; readonly next: number } {
  const queues: KnownQueue[] = [];
  let at = 0;
  for (const queue of all) {
    if (at++ < from) continue;
    if (queues.length === queuesMax) return { queues, next: at - 1 };
    queues.push(queue);
  }
  return { queues, next: 0 };
}

/** Keeps each run once. Thousands of entries may belong before thousands: bisection finds the place. */
export function insertInOrder(entries: QueueEntry[], entry: QueueEntry): void {
  let from = 0;
  let to = entries.length;
  // Usually it is the last one.
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
