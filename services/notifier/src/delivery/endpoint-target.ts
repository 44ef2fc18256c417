// An organization's endpoint as this service sees it: its target, its events, and its secrets.
import type { EndpointId } from '@methods/base/ids';
import type { DeliveryKind } from './delivery.ts';
import type { EventName } from './run-event.ts';

export type EndpointFormat = 'webhook' | 'slack' | 'teams';

export interface EndpointTarget {
  readonly endpointId: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly url: string;
  readonly events: readonly string[];
  readonly paused: boolean;
  /** Empty for a chat. */
  readonly secret: string;
  readonly earlier: readonly { readonly secret: string; readonly untilMs: number }[];
  /** When it was created or resumed, or its events were changed. */
  readonly changedAtMs: number;
}

/** Schedulers and this service know of a new endpoint within half a minute. */
const KNOWN_AFTER_MS = 60_000;

export function takes({ paused, events }: EndpointTarget, event: EventName): boolean {
  return !paused && events.includes(event);
}

/** Reports whether the endpoint certainly took that event at the time. */
export function tookThen(target: EndpointTarget, event: EventName, atMs: number): boolean {
  return takes(target, event) && target.changedAtMs + KNOWN_AFTER_MS < atMs;
}

/** Newest first; all of them sign. */
export function secretsOf({ secret, earlier }: EndpointTarget, nowMs: number): readonly string[] {
  return [secret, ...earlier.filter(({ untilMs }) => untilMs > nowMs).map((one) => one.secret)];
}

export function kindOf({ format }: EndpointTarget): DeliveryKind {
  return format === 'webhook' ? 'endpoint' : format;
}
