// Divides a commit between organizations: when several wait, one that starts thousands of runs at once fills only its
// part of the batch.
import type { OrgId } from '@methods/base/ids';

export const BATCH_SIZE = { changesMax: 256, bytesMax: 1 << 20 } as const;

interface Change {
  readonly change: { readonly after: { readonly facts: { readonly orgId: OrgId } } };
  readonly bytes: number;
}

interface Part {
  waiting: number;
  taken: number;
  bytes: number;
  isFull: boolean;
}

export class BatchParts {
  private readonly parts = new Map<string, Part>();
  private readonly changesMax: number;

  /** @param waiting the changes that may be committed now. */
  constructor(waiting: readonly Change[]) {
    for (const { change } of waiting) {
      const { orgId } = change.after.facts;
      const part = this.parts.get(orgId);
      if (part === undefined) this.parts.set(orgId, { waiting: 1, taken: 0, bytes: 0, isFull: false });
      else part.waiting++;
    }
    this.changesMax = evenPart([...this.parts.values()].map((part) => part.waiting));
  }

  /**
   * Reports whether the change joins this batch, and counts it if so. Once one change is refused, no later change of
   * its organization joins.
   */
  hasRoom({ change, bytes }: Change): boolean {
    const part = this.parts.get(change.after.facts.orgId);
    if (part === undefined || part.isFull) return false;
    part.taken++;
    part.bytes += bytes;
    const bytesMax = BATCH_SIZE.bytesMax / this.parts.size;
    part.isFull = part.taken > this.changesMax || (part.taken > 1 && part.bytes > bytesMax);
    return !part.isFull;
  }
}

/** Organizations with many changes share evenly what the organizations with few changes leave free. */
function evenPart(counts: readonly number[]): number {
  let left: number = BATCH_SIZE.changesMax;
  let others = counts.length;
  for (const count of [...counts].sort((a, b) => a - b)) {
    if (count * others > left) return Math.max(1, Math.floor(left / others));
    left -= count;
    others--;
  }
  return BATCH_SIZE.changesMax;
}
