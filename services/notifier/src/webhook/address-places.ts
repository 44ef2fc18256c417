// Bounds the sends to one address at a time: names are cheap, so all names of one silent address share its places.
// Counted by organization and address, and by address in total, so that one organization never takes more than its part
// of a shared address.

import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import type { ResolvedAddress } from './host-resolver.ts';

export interface AddressPlacesOptions {
  readonly clock: Clock;
  /** Sends to one address. */
  readonly placesMax: number;
  /** For one organization; it gets fewer while others use the address: never more than are still free. */
  readonly perOrganizationMax: number;
  /** The wait for a free place. It slows an organization whose sends all use one full address. */
  readonly waitMs: number;
}

interface Waiter {
  readonly orgId: OrgId;
  readonly addresses: readonly string[];
  readonly settle: (leave: (() => void) | null) => void;
}

export class AddressPlaces {
  /** Addresses with sends in flight. */
  private readonly places = new Map<string, Shares>();
  /** At most as many as there are sends, in the order of arrival. */
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly options: AddressPlacesOptions) {}

  /**
   * Takes a place at each of the addresses; the returned function releases them. Null: none was free in time, or `stop`
   * was called.
   */
  enter(orgId: OrgId, addresses: readonly ResolvedAddress[], stop: AbortSignal): Promise<(() => void) | null> {
    const keys = [...new Set(addresses.map(({ address }) => placeOf(address)))];
    const leave = this.take(orgId, keys);
    if (leave !== null || stop.aborted) return Promise.resolve(leave);
    return new Promise((resolve) => {
      let timer: Timer | null = null;
      const giveUp = () => waiter.settle(null);
      const waiter: Waiter = {
        orgId,
        addresses: keys,
        settle: (taken) => {
          this.waiters.delete(waiter);
          timer?.cancel();
          stop.removeEventListener('abort', giveUp);
          resolve(taken);
        },
      };
      this.waiters.add(waiter);
      timer = this.options.clock.after(this.options.waitMs, giveUp);
      stop.addEventListener('abort', giveUp);
    });
  }

  private take(orgId: OrgId, keys: readonly string[]): (() => void) | null {
    const taken: (() => void)[] = [];
    const leaveAll = () => {
      for (const leave of taken) leave();
      for (const key of keys) if (this.places.get(key)?.used === 0) this.places.delete(key);
    };
    for (const key of keys) {
      const shares = this.places.get(key) ?? new Shares(this.options);
      this.places.set(key, shares);
      const place = shares.take(orgId);
      if (place.ok) taken.push(place.leave);
      else {
        leaveAll();
        return null;
      }
    }
    return () => {
      leaveAll();
      for (const waiter of this.waiters) {
        if (!waiter.addresses.some((key) => keys.includes(key))) continue;
        const next = this.take(waiter.orgId, waiter.addresses);
        if (next !== null) waiter.settle(next);
      }
    };
  }
}

/** For an IPv6 address its first 64 bits, since its owner has the whole network. */
function placeOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end takes the place of two groups.
  const groups = back.length + (back.at(-1)?.includes('.') ? 1 : 0);
  const middle = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - front.length - groups) }, () => '0');
  const first = [...front, ...middle, ...back].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}
