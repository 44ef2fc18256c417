// The order in which organizations that wait for the same thing are served: they take turns, and within one the first
// comes first.
import type { OrgId } from '@methods/base/ids';

interface OfOrganization {
  readonly orgId: OrgId;
}

export class FairLine<Item extends OfOrganization> {
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
