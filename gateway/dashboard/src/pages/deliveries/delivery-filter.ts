// The filters of the list of deliveries, from the query of the address. What is none of the known values is left out.
import type { Search } from '../../address/search.ts';
import type { Delivery } from '../../api/shapes.ts';

export const KINDS: Readonly<Record<Delivery['kind'], string>> = {
  webhook: 'Webhook',
  endpoint: 'Endpoint',
  slack: 'Slack',
  teams: 'Teams',
  mail: 'Mail',
};

export const STATUSES: readonly { readonly value: Delivery['status']; readonly word: string }[] = [
  { value: 'pending', word: 'On its way' },
  { value: 'delivered', word: 'Delivered' },
  { value: 'exhausted', word: 'Given up' },
  { value: 'stopped', word: 'Stopped' },
];

interface DeliveryFilter {
  readonly status?: Delivery['status'];
  readonly kind?: Delivery['kind'];
  readonly run?: string;
  readonly endpoint?: string;
}

/** `count`: how many filters are set. */
export function deliveryFilter(search: Search): { readonly filter: DeliveryFilter; readonly count: number } {
  const status = STATUSES.find(({ value }) => value === search.status)?.value;
  const kind = Object.keys(KINDS).find((each): each is Delivery['kind'] => each === search.kind);
  const filter = {
    ...(status !== undefined && { status }),
    ...(kind !== undefined && { kind }),
    ...(search.run !== undefined && { run: search.run }),
    ...(search.endpoint !== undefined && { endpoint: search.endpoint }),
  };
  return { filter, count: Object.keys(filter).length };
}
