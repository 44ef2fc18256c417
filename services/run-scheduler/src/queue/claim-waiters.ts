// The free places of this node's workers and where their next run may come from: each place goes to the node whose
// queue has the oldest run. A place that brings no run back within a second is free again.
import type { Clock } from '@methods/base/clock';
import type { QueueKey } from '../store/run-store.ts';
import { queueName } from './known-queue.ts';
import type { QueueHead } from './ready-runs.ts';

export interface ClaimOffer {
  readonly key: QueueKey;
  readonly workerSession: string;
  readonly creditId: number;
}

interface WaitingWorker {
  readonly session: string;
  readonly queues: readonly QueueKey[];
  free: number;
}

interface Outstanding {
  readonly offer: ClaimOffer;
  readonly nodeId: string;
  readonly sentAtMs: number;
}

const OFFER_MS = 1_000;

export class ClaimWaiters {
  private readonly workers = new Map<string, WaitingWorker>();
  /** Workers by queue, in turn. */
  private readonly byQueue = new Map<string, { key: QueueKey; sessions: string[] }>();
  private readonly heads = new Map<string, Map<string, QueueHead>>();
  private readonly outstanding = new Map<number, Outstanding>();
  private readonly offered = new Map<string, number>();
  private nextCredit = 1;

  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly clock: Clock;
      readonly send: (nodeId: string, offer: ClaimOffer) => boolean;
      /** The set of queues asked for changed. */
      readonly interestChanged: (queues: readonly QueueKey[]) => void;
    },
  ) {}

  register(session: string, queues: readonly QueueKey[]): void {
    this.workers.set(session, { session, queues, free: 0 });
    let grown = false;
    for (const key of queues) {
      const entry = this.byQueue.get(queueName(key));
      if (entry !== undefined) entry.sessions.push(session);
      else {
        this.byQueue.set(queueName(key), { key, sessions: [session] });
        grown = true;
      }
    }
    if (grown) this.options.interestChanged(this.interest());
  }

  unregister(session: string): void {
    const worker = this.workers.get(session);
    if (worker === undefined) return;
    this.workers.delete(session);
    let shrunk = false;
    for (const key of worker.queues) {
      const entry = this.byQueue.get(queueName(key));
      if (entry === undefined) continue;
      entry.sessions = entry.sessions.filter((s) => s !== session);
      if (entry.sessions.length > 0) continue;
      this.byQueue.delete(queueName(key));
      this.heads.delete(queueName(key));
      shrunk = true;
    }
    if (shrunk) this.options.interestChanged(this.interest());
  }

  interest(): QueueKey[] {
    return [...this.byQueue.values()].map((entry) => entry.key);
  }

  addCredits(session: string, count: number): void {
    const worker = this.workers.get(session);
    if (worker === undefined) return;
    worker.free += count;
    this.place(worker);
  }

  headChanged(nodeId: string, key: QueueKey, head: QueueHead | null): void {
    const name = queueName(key);
    const entry = this.byQueue.get(name);
    // Late word of a queue whose last worker left: nobody would ever take it back.
    if (entry === undefined) return;
    const heads = this.heads.get(name) ?? new Map<string, QueueHead>();
    if (head === null || head.depth === 0) heads.delete(nodeId);
    else heads.set(nodeId, head);
    this.heads.set(name, heads);
    if (head !== null) this.offerTo(key);
  }

  /** A free place for a run that starts on this very node; null when older runs wait or nobody is free. */
  reserve(key: QueueKey): { workerSession: string; creditId: number } | null {
    const entry = this.byQueue.get(queueName(key));
    if (entry === undefined || (this.heads.get(queueName(key))?.size ?? 0) > 0) return null;
    for (const session of entry.sessions) {
      const worker = this.workers.get(session);
      if (worker === undefined || worker.free === 0) continue;
      entry.sessions.push(...entry.sessions.splice(entry.sessions.indexOf(session), 1));
      const offer = this.spend(worker, key, this.options.nodeId);
      return { workerSession: session, creditId: offer.creditId };
    }
    return null;
  }

  /** The place was used: the worker gives a new credit when it is free again. False: the offer was given up before. */
  used(creditId: number): boolean {
    const settled = this.settle(creditId);
    // The queue may have told of more runs than it could be offered places for until now.
    if (settled !== null) this.offerTo(settled.offer.key);
    return settled !== null;
  }

  /** A grant came after its offer was given up: it fills a place that counts as free by now. */
  filled(session: string): void {
    const worker = this.workers.get(session);
    if (worker !== undefined) worker.free = Math.max(0, worker.free - 1);
  }

  /**
   * The owner had no run for the place: the head it told of is out of date, and it tells anew at the end of its turn.
   * Offered to that head again, the place would come back at once, over and over; where the owner is this very node,
   * in one turn that never ends.
   */
  emptyHanded(creditId: number): void {
    const outstanding = this.outstanding.get(creditId);
    if (outstanding === undefined) return;
    this.heads.get(queueName(outstanding.offer.key))?.delete(outstanding.nodeId);
    this.returned(creditId);
  }

  /** The place brought nothing. */
  returned(creditId: number): void {
    const settled = this.settle(creditId);
    if (settled === null) return;
    const worker = this.workers.get(settled.offer.workerSession);
    // Its worker left: the run it was for waits for another one.
    if (worker === undefined) return this.offerTo(settled.offer.key);
    worker.free++;
    this.place(worker);
  }

  nodeGone(nodeId: string): void {
    for (const heads of this.heads.values()) heads.delete(nodeId);
    for (const [creditId, { nodeId: to }] of [...this.outstanding]) if (to === nodeId) this.returned(creditId);
  }

  /** Once a second: places offered too long ago are free again. A grant that comes later is still taken. */
  sweep(): void {
    const beforeMs = this.options.clock.monotonicMs() - OFFER_MS;
    for (const [creditId, { sentAtMs }] of [...this.outstanding]) if (sentAtMs < beforeMs) this.returned(creditId);
  }

  freePlaces(): number {
    let free = 0;
    for (const worker of this.workers.values()) free += worker.free;
    return free;
  }

  /** A queue may have more runs than offers: workers take turns, the first that was served goes to the end. */
  private offerTo(key: QueueKey): void {
    const entry = this.byQueue.get(queueName(key));
    for (const session of [...(entry?.sessions ?? [])]) {
      if (entry === undefined || this.bestOf(key) === null) return;
      const worker = this.workers.get(session);
      if (worker === undefined || worker.free === 0) continue;
      this.place(worker);
      entry.sessions.push(...entry.sessions.splice(entry.sessions.indexOf(session), 1));
    }
  }

  private place(worker: WaitingWorker): void {
    while (worker.free > 0) {
      const best = this.bestFor(worker);
      if (best === null) return;
      const offer = this.spend(worker, best.key, best.nodeId);
      if (!this.options.send(best.nodeId, offer)) {
        this.heads.get(queueName(best.key))?.delete(best.nodeId);
        this.settle(offer.creditId);
        worker.free++;
      }
    }
  }

  private bestFor(worker: WaitingWorker): { key: QueueKey; nodeId: string; head: QueueHead } | null {
    let best: { key: QueueKey; nodeId: string; head: QueueHead } | null = null;
    for (const key of worker.queues) {
      const found = this.bestOf(key);
      if (found !== null && (best === null || isOlder(found.head, best.head))) best = { key, ...found };
    }
    return best;
  }

  /** The node whose queue has the oldest run and not yet an offer for each run it told of. */
  private bestOf(key: QueueKey): { nodeId: string; head: QueueHead } | null {
    const name = queueName(key);
    let best: { nodeId: string; head: QueueHead } | null = null;
    for (const [nodeId, head] of this.heads.get(name) ?? []) {
      if ((this.offered.get(`${nodeId}/${name}`) ?? 0) >= head.depth) continue;
      if (best === null || isOlder(head, best.head)) best = { nodeId, head };
    }
    return best;
  }

  private spend(worker: WaitingWorker, key: QueueKey, nodeId: string): ClaimOffer {
    worker.free--;
    const offer = { key, workerSession: worker.session, creditId: this.nextCredit };
    this.nextCredit = this.nextCredit >= 0xffff_fff0 ? 1 : this.nextCredit + 1;
    this.outstanding.set(offer.creditId, { offer, nodeId, sentAtMs: this.options.clock.monotonicMs() });
    const place = `${nodeId}/${queueName(key)}`;
    this.offered.set(place, (this.offered.get(place) ?? 0) + 1);
    return offer;
  }

  private settle(creditId: number): Outstanding | null {
    const outstanding = this.outstanding.get(creditId);
    if (outstanding === undefined) return null;
    this.outstanding.delete(creditId);
    const place = `${outstanding.nodeId}/${queueName(outstanding.offer.key)}`;
    const left = (this.offered.get(place) ?? 1) - 1;
    if (left > 0) this.offered.set(place, left);
    else this.offered.delete(place);
    return outstanding;
  }
}

function isOlder(a: QueueHead, b: QueueHead): boolean {
  return a.queuedAtMs < b.queuedAtMs || (a.queuedAtMs === b.queuedAtMs && a.runId < b.runId);
}
