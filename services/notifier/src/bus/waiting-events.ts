// Events that wait to be stored. Organizations take turns, and each has a share of what waits: the event of one is not
// stored after a thousand large ones of another.
import type { Clock } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { FairQueue } from '@methods/threads/fair-queue';
import { LRUCache } from 'lru-cache';
import type { IncomingEvent, ReadyEvent } from './awaited-endpoints.ts';

/** What storing them costs: the bytes of an event for itself and for each endpoint. One organization has half of it. */
const COST_MAX = 16 << 20;
/** An event that costs more is one of few in any case. */
const EVENT_COST_MAX = 4 << 20;
/** Beyond this no more are fetched: several organizations have much to store. */
const ENOUGH_COST = 12 << 20;
const UNBOUNDED = Number.POSITIVE_INFINITY;

interface WaitingEvent {
  readonly orgId: string;
  readonly isLarge: false;
  /** Its cost. */
  readonly bytes: number;
  readonly event: ReadyEvent;
  readonly leave: () => void;
}

export class WaitingEvents {
  // The shares bound it.
  private readonly queue = new FairQueue<WaitingEvent>({
    small: UNBOUNDED,
    large: 0,
    all: UNBOUNDED,
    allBytes: UNBOUNDED,
  });
  private readonly shares = new Shares({ placesMax: COST_MAX });

  get length(): number {
    return this.queue.length;
  }

  get cost(): number {
    return this.shares.used;
  }

  get hasRoom(): boolean {
    return this.cost < ENOUGH_COST;
  }

  /** False: its organization has its share waiting. */
  add(event: ReadyEvent): boolean {
    const orgId = event.orgId ?? '';
    const bytes = Math.min(EVENT_COST_MAX, event.message.data.length * (1 + event.targets.length));
    const place = this.shares.take(orgId, '', bytes);
    if (place.ok) this.queue.add({ orgId, isLarge: false, bytes, event, leave: place.leave });
    return place.ok;
  }

  /** In turns, those of one organization in their order; the last one may go past `costMax`. */
  take(countMax: number, costMax: number): ReadyEvent[] {
    const events: ReadyEvent[] = [];
    for (let cost = 0; events.length < countMax && cost < costMax; ) {
      const next = this.queue.take(() => true, { large: false });
      if (next === null) break;
      next.leave();
      cost += next.bytes;
      events.push(next.event);
    }
    return events;
  }
}

/** In a window of one delay; so at most twice as many at a time. */
const BACK_MAX = 128;
const ORGANIZATIONS_MAX = 10_000;

/**
 * Hands events back to the bus, to come again. The bus counts each as handed out until then, and hands out a bounded
 * number to all notifiers: beyond the part of an organization it need not bring an event again. As the event is
 * not confirmed, the scheduler sends it again later.
 */
export class HandedBack {
  private readonly windows = new LRUCache<string, { readonly untilMs: number; count: number }>({
    max: ORGANIZATIONS_MAX,
  });

  constructor(private readonly clock: Clock) {}

  add({ orgId, message }: { readonly orgId: string | null; readonly message: IncomingEvent }, delayMs: number): void {
    const nowMs = this.clock.monotonicMs();
    const known = this.windows.get(orgId ?? '');
    const isOpen = known !== undefined && nowMs < known.untilMs;
    const window = isOpen ? known : { untilMs: nowMs + delayMs, count: 0 };
    if (!isOpen) this.windows.set(orgId ?? '', window);
    if (++window.count > BACK_MAX) message.ack();
    else message.nak(delayMs);
  }
}
