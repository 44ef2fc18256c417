// The places of this process for builds: how many run at once, of all organizations and of each. The last one is for
// small recordings, and an organization never has all: a newcomer finds a place.
import type { OrgId } from '@methods/base/ids';
import type { ClaimTerms } from '../store/claim-build.ts';

export interface BuildPlace {
  readonly orgId: OrgId;
  readonly isLarge: boolean;
}

const PLACES = 3;
const LARGE_PLACES = PLACES - 1;
const PLACES_OF_ONE = PLACES - 1;
const LARGE_PLACES_OF_ONE = 1;

export class BuildPlaces {
  private readonly taken = new Set<BuildPlace>();

  get isFull(): boolean {
    return this.taken.size >= PLACES;
  }

  take(place: BuildPlace): void {
    this.taken.add(place);
  }

  leave(place: BuildPlace): void {
    this.taken.delete(place);
  }

  /** The free places. */
  terms(leaseMs: number): ClaimTerms {
    const all = new Map<string, number>();
    const large = new Map<string, number>();
    for (const { orgId, isLarge } of this.taken) {
      all.set(orgId, (all.get(orgId) ?? 0) + 1);
      if (isLarge) large.set(orgId, (large.get(orgId) ?? 0) + 1);
    }
    const largeTaken = [...large.values()].reduce((sum, n) => sum + n, 0);
    const atShare = (counts: Map<string, number>, share: number) =>
      [...counts].filter(([, count]) => count >= share).map(([orgId]) => orgId);
    return {
      leaseMs,
      takeLarge: largeTaken < LARGE_PLACES,
      noneOf: atShare(all, PLACES_OF_ONE),
      noLargeOf: atShare(large, LARGE_PLACES_OF_ONE),
    };
  }
}
