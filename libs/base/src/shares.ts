// Shares of a bounded total: open replies, waits, jobs in progress, bytes in flight. One organization never fills it,
// and one key never fills its organization's share, so a caller that asks for too much is refused before others are.

export interface SharesOptions {
  /** For all organizations together. */
  readonly placesMax: number;
  /** For each organization. Lower while others hold places: never more than are still free. */
  readonly perOrganizationMax?: number;
  /** For each key, person or host of an organization; default: as many as the organization. */
  readonly perKeyMax?: number;
}

/** The share that is used up: that of the key, that of its organization, or the whole. */
export type Share = 'key' | 'organization' | 'all';

/** A refusal changes nothing, so there is nothing to return. */
export type Taken =
  | { readonly ok: true /** Gives the places back; a second call does nothing. */; readonly leave: () => void }
  | { readonly ok: false; readonly share: Share; readonly max: number };

interface Held {
  places: number;
  readonly keys: Map<string, number>;
}

export class Shares {
  private readonly organizations = new Map<string, Held>();
  private taken = 0;

  constructor(private readonly options: SharesOptions) {}

  /** Places taken by all. */
  get used(): number {
    return this.taken;
  }

  /**
   * An organization may hold as many places as are still free, so one gets at most half of them, two a third each, and
   * a newcomer always finds some. `key` names the key, person or host that shares the organization's part.
   */
  take(orgId: string, key = '', places = 1): Taken {
    const { placesMax, perOrganizationMax = placesMax, perKeyMax = Number.POSITIVE_INFINITY } = this.options;
    const held = this.organizations.get(orgId);
    const ofOrganization = (held?.places ?? 0) + places;
    const ofKey = (held?.keys.get(key) ?? 0) + places;
    if (ofKey > perKeyMax) return { ok: false, share: 'key', max: perKeyMax };
    if (ofOrganization > perOrganizationMax) return { ok: false, share: 'organization', max: perOrganizationMax };
    const free = placesMax - this.taken - places;
    if (free < 0) return { ok: false, share: 'all', max: placesMax };
    // An organization's first request is small, and never refused to keep room for newcomers.
    if (held !== undefined && ofOrganization > free + places) {
      return { ok: false, share: 'organization', max: held.places };
    }
    this.add(orgId, key, places);
    let left = false;
    return {
      ok: true,
      leave: () => {
        if (left) return;
        left = true;
        this.add(orgId, key, -places);
      },
    };
  }

  private add(orgId: string, key: string, places: number): void {
    this.taken += places;
    const held = this.organizations.get(orgId) ?? { places: 0, keys: new Map<string, number>() };
    held.places += places;
    const ofKey = (held.keys.get(key) ?? 0) + places;
    if (ofKey > 0) held.keys.set(key, ofKey);
    else held.keys.delete(key);
    if (held.places > 0) this.organizations.set(orgId, held);
    else this.organizations.delete(orgId);
  }
}
