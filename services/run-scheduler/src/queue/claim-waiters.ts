// Matches the free places of this node's workers with announced queues: each place goes to the node whose queue has the
// oldest run. A place that brings no run within a second is free again.

import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { QueueKey } from '../store/run-store.ts';
import { HeadsByAge, type ServedQueue, type ToldHead } from './heads-by-age.ts';
import { queueName } from './known-queue.ts';
import type { QueueHead } from './ready-runs.ts';

export interface ClaimOffer {
  readonly key: QueueKey;
  readonly workerSession: string;
  readonly creditId: number;
  /** The protocol features that its worker knows. */
  readonly features: readonly string[];
}

/** The queues that are newly requested, and those that no longer are. */
export interface InterestChange {
  readonly added: readonly QueueKey[];
  readonly removed: readonly QueueKey[];
}

interface WaitingWorker {
  readonly session: string;
  /** Empty: the worker serves no queue. */
  readonly orgId: OrgId | '';
  readonly queues: Set<ServedQueue>;
  readonly features: readonly string[];
  free: number;
}

interface Outstanding {
  readonly offer: ClaimOffer;
  readonly nodeId: string;
  readonly sentAtMs: number;
}

const OFFER_MS = 1_000;
/**
 * A queue stays requested for this long after its last worker left, so that a worker that reconnects at once changes
 * nothing.
 */
const LINGER_MS = 5_000;
/** Different queues of all workers. An organization may have at most as many as are still free. */
const QUEUES_MAX = 40_000;

export class ClaimWaiters {
  protected readonly workers = new Map<string, WaitingWorker>();
  private readonly queues = new Map<string, ServedQueue>();
  /** Queues of each organization. */
  private readonly counts = new Map<string, number>();
  /** Queues without a worker, by the time their last one left. */
  private readonly abandoned = new Map<ServedQueue, number>();
  private readonly heads = new HeadsByAge();
  private readonly outstanding = new Map<number, Outstanding>();
  private nextCredit = 1;

  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly clock: Clock;
      readonly send: (nodeId: string, offer: ClaimOffer) => boolean;
      readonly interestChanged: (change: InterestChange) => void;
    },
  ) {}

  /** Reports whether the node has room for these queues of one organization. Queues already requested cost nothing. */
  hasRoomFor(orgId: OrgId, queues: readonly QueueKey[]): boolean {
    let fresh = 0;
    for (const key of queues) if (!this.queues.has(queueName(key))) fresh++;
    return fresh === 0 || (this.counts.get(orgId) ?? 0) + fresh <= QUEUES_MAX - this.queues.size;
  }

  /** All queues of a worker are of its organization. */
  register(session: string, keys: readonly QueueKey[], features: readonly string[] = []): void {
    this.unregister(session);
    const orgId = keys[0]?.orgId ?? '';
    const added: QueueKey[] = [];
    const queues = new Set<ServedQueue>();
    for (const key of keys) {
      const name = queueName(key);
      let queue = this.queues.get(name);
      if (queue === undefined) {
        queue = { key, name, sessions: new Set(), heads: new Map(), offered: new Map() };
        this.queues.set(name, queue);
        this.counts.set(key.orgId, (this.counts.get(key.orgId) ?? 0) + 1);
        added.push(key);
      }
      this.abandoned.delete(queue);
      queue.sessions.add(session);
      queues.add(queue);
    }
    this.workers.set(session, { session, orgId, queues, features, free: 0 });
    if (added.length > 0) this.options.interestChanged({ added, removed: [] });
  }

  unregister(session: string): void {
    const worker = this.workers.get(session);
    if (worker === undefined) return;
    this.workers.delete(session);
    this.leave(worker, worker.queues);
  }

  /** Offers no more places of the worker to these queues. */
  leaveQueues(session: string, isLeft: (key: QueueKey) => boolean): void {
    const worker = this.workers.get(session);
    if (worker === undefined) return;
    const left = [...worker.queues].filter(({ key }) => isLeft(key));
    for (const queue of left) worker.queues.delete(queue);
    this.leave(worker, left);
  }

  private leave({ session }: WaitingWorker, queues: Iterable<ServedQueue>): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const queue of queues) {
      queue.sessions.delete(session);
      if (queue.sessions.size === 0) this.abandoned.set(queue, nowMs);
    }
  }

  interest(): QueueKey[] {
    return [...this.queues.values()].map((queue) => queue.key);
  }

  addCredits(session: string, count: number): void {
    const worker = this.workers.get(session);
    if (worker === undefined) return;
    worker.free += count;
    this.place(worker);
  }

  headChanged(nodeId: string, key: QueueKey, head: QueueHead | null): void {
    // A late announcement of a queue that is no longer requested would never be withdrawn.
    const queue = this.queues.get(queueName(key));
    if (queue === undefined) return;
    this.heads.set(queue, nodeId, head === null || head.depth === 0 ? null : head);
    if (head !== null) this.offerTo(queue);
  }

  /** Reserves a free place for a run that starts on this node; null when older runs wait or no worker is free. */
  reserve(key: QueueKey): { workerSession: string; creditId: number } | null {
    const queue = this.queues.get(queueName(key));
    if (queue === undefined || queue.heads.size > 0) return null;
    for (const session of queue.sessions) {
      const worker = this.workers.get(session);
      if (worker === undefined || worker.free === 0) continue;
      toTheEnd(queue, session);
      const offer = this.spend(worker, queue, this.options.nodeId);
      return { workerSession: session, creditId: offer.creditId };
    }
    return null;
  }

  /** The place was used: the worker sends a new credit when it is free again. False: the offer had expired. */
  used(creditId: number): boolean {
    const settled = this.settle(creditId);
    // The queue may have announced more runs than it has been offered places.
    if (settled !== null) this.offerToQueueOf(settled);
    return settled !== null;
  }

  /** A grant arrived after its offer expired: it fills a place that counts as free by now. */
  filled(session: string): void {
    const worker = this.workers.get(session);
    if (worker !== undefined) worker.free = Math.max(0, worker.free - 1);
  }

  /**
   * The owner had no run for the place: the head it announced is out of date, and it announces a new one at the end of
   * its turn. If the place were offered to the same head again, it would come back at once, repeatedly; with this node
   * as the owner, in one turn that never ends.
   */
  emptyHanded(creditId: number): void {
    const outstanding = this.outstanding.get(creditId);
    if (outstanding === undefined) return;
    const queue = this.queues.get(queueName(outstanding.offer.key));
    if (queue !== undefined) this.heads.remove(queue, outstanding.nodeId);
    this.returned(creditId);
  }

  /** The place brought no run. */
  returned(creditId: number): void {
    const settled = this.settle(creditId);
    if (settled === null) return;
    const worker = this.workers.get(settled.offer.workerSession);
    // The worker left: its run waits for another worker.
    if (worker === undefined) return this.offerToQueueOf(settled);
    worker.free++;
    this.place(worker);
  }

  nodeGone(nodeId: string): void {
    for (const queue of this.queues.values()) this.heads.remove(queue, nodeId);
    for (const [creditId, { nodeId: to }] of [...this.outstanding]) if (to === nodeId) this.returned(creditId);
  }

  /**
   * Called twice a second: frees places that were offered too long ago. A grant that arrives later is still accepted.
   */
  sweep(): void {
    const nowMs = this.options.clock.monotonicMs();
    for (const [creditId, { sentAtMs }] of [...this.outstanding]) {
      if (sentAtMs < nowMs - OFFER_MS) this.returned(creditId);
    }
    const removed: QueueKey[] = [];
    for (const [queue, sinceMs] of this.abandoned) {
      if (sinceMs > nowMs - LINGER_MS) break;
      this.forget(queue);
      removed.push(queue.key);
    }
    if (removed.length > 0) this.options.interestChanged({ added: [], removed });
  }

  private forget(queue: ServedQueue): void {
    this.abandoned.delete(queue);
    this.queues.delete(queue.name);
    this.heads.removeAll(queue);
    const { orgId } = queue.key;
    const left = (this.counts.get(orgId) ?? 1) - 1;
    if (left > 0) this.counts.set(orgId, left);
    else this.counts.delete(orgId);
  }

  private offerToQueueOf({ offer }: Outstanding): void {
    const queue = this.queues.get(queueName(offer.key));
    if (queue !== undefined) this.offerTo(queue);
  }

  /** A queue may have more runs than offers: workers take turns, and a worker that was served goes to the end. */
  private offerTo(queue: ServedQueue): void {
    if (!wantsPlaces(queue)) return;
    for (const session of [...queue.sessions]) {
      const worker = this.workers.get(session);
      if (worker === undefined || worker.free === 0) continue;
      this.place(worker);
      toTheEnd(queue, session);
      if (!wantsPlaces(queue)) return;
    }
  }

  /** From the oldest head to the youngest: offers do not change their order, so one look at each is enough. */
  private place(worker: WaitingWorker): void {
    if (worker.free === 0 || worker.orgId === '') return;
    const unreachable: ToldHead[] = [];
    for (const told of this.heads.of(worker.orgId)) {
      if (worker.free === 0) break;
      const { queue, nodeId } = told;
      if (!worker.queues.has(queue)) continue;
      while (worker.free > 0 && roomAt(told) > 0) {
        const offer = this.spend(worker, queue, nodeId);
        if (this.options.send(nodeId, offer)) continue;
        this.settle(offer.creditId);
        worker.free++;
        unreachable.push(told);
        break;
      }
    }
    for (const { queue, nodeId } of unreachable) this.heads.remove(queue, nodeId);
  }

  private spend(worker: WaitingWorker, queue: ServedQueue, nodeId: string): ClaimOffer {
    worker.free--;
    const { session: workerSession, features } = worker;
    const offer = { key: queue.key, workerSession, creditId: this.nextCredit, features };
    this.nextCredit = this.nextCredit >= 0xffff_fff0 ? 1 : this.nextCredit + 1;
    this.outstanding.set(offer.creditId, { offer, nodeId, sentAtMs: this.options.clock.monotonicMs() });
    queue.offered.set(nodeId, (queue.offered.get(nodeId) ?? 0) + 1);
    return offer;
  }

  private settle(creditId: number): Outstanding | null {
    const outstanding = this.outstanding.get(creditId);
    if (outstanding === undefined) return null;
    this.outstanding.delete(creditId);
    const offered = this.queues.get(queueName(outstanding.offer.key))?.offered;
    const left = (offered?.get(outstanding.nodeId) ?? 1) - 1;
    if (left > 0) offered?.set(outstanding.nodeId, left);
    else offered?.delete(outstanding.nodeId);
    return outstanding;
  }
}

/** Returns the number of announced runs that no place was offered for yet. */
function roomAt({ queue, nodeId, head }: ToldHead): number {
  return head.depth - (queue.offered.get(nodeId) ?? 0);
}

function wantsPlaces(queue: ServedQueue): boolean {
  for (const told of queue.heads.values()) if (roomAt(told) > 0) return true;
  return false;
}

function toTheEnd(queue: ServedQueue, session: string): void {
  if (queue.sessions.delete(session)) queue.sessions.add(session);
}
