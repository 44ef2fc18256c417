// Tracks which events precede others of their run: webhooks of a run are first sent in its order, even if the bus lost
// an event or another notifier took the earlier one.

import { type EndpointTarget, takes, tookThen } from './endpoint-target.ts';
import { chooseAnswerer } from './plan-delivery.ts';
import { isDelivered, type RunEvent } from './run-event.ts';

/** The earlier event is redelivered within seconds. One that never arrives delays the later one at most this long. */
const HELD_MAX_MS = 900_000;
/** Stored deliveries are kept for a day at least; about older ones nothing is known. */
const KEPT_MS = 12 * 3_600_000;

/** Returns a unique name of an event. */
export function eventName({ orgId, runId, seq }: Pick<RunEvent, 'orgId' | 'runId' | 'seq'>): string {
  return `${orgId}.${runId}.${seq}`;
}

/**
 * Reports whether the deliveries of this event may only be stored after its earlier event: the run's own URL got that
 * one too, or an endpoint that takes this one did.
 */
export function keepsOrder(event: RunEvent, endpoints: readonly EndpointTarget[]): boolean {
  if (event.follows === null || !isDelivered(event)) return false;
  const { follows, change } = event;
  if (chooseAnswerer(event).application) return true;
  return endpoints.some((target) => takes(target, change.event) && tookThen(target, 'needs_input', follows.atMs));
}

/** Returns the event that must be stored before this one; null when there is none. */
export function earlierEvent({ orgId, runId, follows, createdAtMs }: RunEvent, nowMs: number) {
  if (follows === null || nowMs - createdAtMs > HELD_MAX_MS || nowMs - follows.atMs > KEPT_MS) return null;
  return { orgId, runId, seq: follows.seq };
}

/** Returns the names of the `ordered` events that arrive too early; `stored` names those stored before this batch. */
export function tooEarly(
  events: readonly RunEvent[],
  ordered: ReadonlySet<RunEvent>,
  stored: ReadonlySet<string>,
  nowMs: number,
): Set<string> {
  const known = new Set(stored);
  const early = new Set<string>();
  for (const event of events.toSorted((a, b) => a.seq - b.seq)) {
    const earlier = ordered.has(event) ? earlierEvent(event, nowMs) : null;
    const isEarly = earlier !== null && !known.has(eventName(earlier));
    (isEarly ? early : known).add(eventName(event));
  }
  return early;
}
