// Schedules the reads of queues: one statement reads many heads, one such statement runs at a time, and pages are read
// only of queues that a run is taken from, few at a time. So a worker with a thousand methods, or a node that takes a
// hundred shards, costs few statements, and organizations take turns.
import type { OrgId } from '@methods/base/ids';

/** Queues whose heads one statement reads. */
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
    // At the end of the turn, since the queues of one worker are added together.
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

/** Serves organizations in turn when they wait for the same thing; within an organization, the first comes first. */
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

  /** Removes at most this many, one of each organization in turn. */
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
      // Served last, so it comes last in the next round.
      this.waiting.delete(orgId);
      if (own.size > 0) this.waiting.set(orgId, own);
    }
    return taken;
  }
}
