// The heads that nodes announced, oldest first for each organization: a free place takes the first head that its worker
// serves, for any number of methods.
import type { OrgId } from '@methods/base/ids';
import type { QueueKey } from '../store/run-store.ts';
import type { QueueHead } from './ready-runs.ts';

/** A queue that a worker of this node serves, or served a moment ago. */
export interface ServedQueue {
  readonly key: QueueKey;
  readonly name: string;
  /** Its workers, in turn. */
  readonly sessions: Set<string>;
  /** The announcement of each node, and how many places each was offered. */
  readonly heads: Map<string, ToldHead>;
  readonly offered: Map<string, number>;
}

export interface ToldHead {
  readonly queue: ServedQueue;
  readonly nodeId: string;
  readonly head: QueueHead;
}

export class HeadsByAge {
  private readonly byOrganization = new Map<string, ToldHead[]>();

  /** Oldest first. Do not keep the list: it changes with the next announcement of any node. */
  of(orgId: OrgId): readonly ToldHead[] {
    return this.byOrganization.get(orgId) ?? [];
  }

  /** Null: the node has no run in this queue. */
  set(queue: ServedQueue, nodeId: string, head: QueueHead | null): void {
    this.remove(queue, nodeId);
    if (head === null) return;
    const told = { queue, nodeId, head };
    queue.heads.set(nodeId, told);
    const { orgId } = queue.key;
    const list = this.byOrganization.get(orgId);
    if (list === undefined) this.byOrganization.set(orgId, [told]);
    else list.splice(placeOf(list, told), 0, told);
  }

  remove(queue: ServedQueue, nodeId: string): void {
    const told = queue.heads.get(nodeId);
    if (told === undefined) return;
    queue.heads.delete(nodeId);
    const { orgId } = queue.key;
    const list = this.byOrganization.get(orgId) ?? [];
    list.splice(placeOf(list, told), 1);
    if (list.length === 0) this.byOrganization.delete(orgId);
  }

  removeAll(queue: ServedQueue): void {
    for (const nodeId of [...queue.heads.keys()]) this.remove(queue, nodeId);
  }
}

/** Returns the position at which the entry is, or belongs. */
function placeOf(list: readonly ToldHead[], told: ToldHead): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(list[middle] as ToldHead, told) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function compare(a: ToldHead, b: ToldHead): number {
  const byAge = a.head.queuedAtMs - b.head.queuedAtMs;
  if (byAge !== 0) return byAge;
  const [x, y] = [`${a.head.runId} ${a.nodeId} ${a.queue.name}`, `${b.head.runId} ${b.nodeId} ${b.queue.name}`];
  return x === y ? 0 : x < y ? -1 : 1;
}
