// Schedules the reads of queues: many heads by one statement, one such statement at a time; pages only of queues that a
// run is taken from, few at a time. So a worker with a thousand methods, and a node that takes a hundred shards, cost a
// few statements, and organizations take turns at them.
import type { OrgId } from '@methods/base/ids';

/** Queues whose heads one statement brings. */
const HEADS_MAX = 1_000;
const PAGES_AT_ONCE = 4;

interface ReadQueue {
  readonly orgId: OrgId;
}

export class QueueReads<Queue extends ReadQueue> {
  private readonly heads = new FairLine<Queue>();
  private readonly pages = new FairLine<Queue>();
  private headsUnderWay = false;
  private pagesUnderWay = 0;

  /** Neither of the two may reject. */
  constructor(
    private readonly read: {
      readonly heads: (queues: readonly Queue[]) => Promise<void>;
      readonly page: (queue: Queue) => Promise<void>;
    },
  ) {}

  wantHead(queue: Queue): void {
    this.heads.add(queue);
    // At the end of the turn: the queues of one worker come together.
    if (!this.headsUnderWay) {
      this.headsUnderWay = true;
      setImmediate(() => void this.nextHeads());
    }
  }

  wantPage(queue: Queue): void {
    this.heads.remove(queue);
    this.pages.add(queue);
    this.nextPages();
  }

  forget(queue: Queue): void {
    this.heads.remove(queue);
    this.pages.remove(queue);
  }

  private async nextHeads(): Promise<void> {
    for (;;) {
      const queues = this.heads.take(HEADS_MAX);
      if (queues.length === 0) break;
      await this.read.heads(queues);
    }
    this.headsUnderWay = false;
  }

  private nextPages(): void {
    for (const queue of this.pages.take(PAGES_AT_ONCE - this.pagesUnderWay)) {
      this.pagesUnderWay++;
      void this.read.page(queue).then(() => {
        this.pagesUnderWay--;
        this.nextPages();
      });
    }
  }
}

interface OfOrganization {
  readonly orgId: OrgId;
}

/**
 * The order in which organizations that wait for the same thing are served: they take turns, and within one the first
 * comes first.
 */
class FairLine<Item extends OfOrganization> {
  private readonly waiting = new Map<string, Set<Item>>();

  /** Each item waits once, even if it is added often. */
  add(item: Item): void {
    const own = this.waiting.get(item.orgId);
    if (own === undefined) this.waiting.set(item.orgId, new Set([item]));
    else own.add(item);
  }

  remove(item: Item): void {
    const own = this.waiting.get(item.orgId);
    if (own?.delete(item) && own.size === 0) this.waiting.delete(item.orgId);
  }

  /** Takes out at most this many, one of each organization in turn. */
  take(itemsMax: number): Item[] {
    const taken: Item[] = [];
    while (taken.length < itemsMax) {
      const [next] = this.waiting;
      if (next === undefined) break;
      const [orgId, own] = next;
      for (const item of own) {
        own.delete(item);
        taken.push(item);
        break;
      }
      // Served last, so last in the next round.
      this.waiting.delete(orgId);
      if (own.size > 0) this.waiting.set(orgId, own);
    }
    return taken;
  }
}
