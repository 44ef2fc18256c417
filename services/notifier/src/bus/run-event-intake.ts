// Takes run events off the bus: stores those that a webhook takes, confirms them to the scheduler, then to the bus.
// This order is the guarantee: nothing is confirmed before it is durable, and after a crash in between the event is
// delivered again.
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { runEventStored } from '@methods/bus/subjects';
import type { Logger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import type { EndpointTarget } from '../delivery/endpoint-target.ts';
import { earlierEvent, eventName, keepsOrder, tooEarly } from '../delivery/event-order.ts';
import type { RunEvent } from '../delivery/run-event.ts';
import type { EventKey, PlannedEvent } from '../store/store-events.ts';
import { writeApart } from '../store/write-apart.ts';
import { AwaitedEndpoints, type IncomingEvent, type ReadyEvent } from './awaited-endpoints.ts';
import { type DecodedEvent, decodeRunEvent } from './decode-run-event.ts';
import { planEvent } from './plan-event.ts';
import { HandedBack, WaitingEvents } from './waiting-events.ts';

export interface RunEventIntakeOptions {
  /** Stores all or nothing; durable when it resolves. Known events are ignored. */
  readonly store: (planned: readonly PlannedEvent[]) => Promise<void>;
  /** Whether people are asked by mail. */
  readonly mails: boolean;
  /** Returns the endpoints of an organization, at once if they are known; rejects when the registry is unavailable. */
  readonly endpoints: (orgId: OrgId) => readonly EndpointTarget[] | Promise<readonly EndpointTarget[]>;
  /** Returns the names of those that are stored. */
  readonly storedEvents: (events: readonly EventKey[]) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  /** Publishes on core NATS; false when NATS is unavailable: then the scheduler sends the events again. */
  readonly publish: (subject: string, bytes: Uint8Array) => boolean;
  /** Deliveries were stored that may be due. */
  readonly onStored: () => void;
  readonly logger: Logger;
}

/**
 * Events in one statement and one confirmation: well below the largest message of the bus. Their bodies are built
 * together, so their bytes are bounded too.
 */
const BATCH_MAX = 256;
const BATCH_BYTES_MAX = 2 << 20;
/**
 * The pause between the beginnings of two statements: a commit, and what follows from it in the scheduler, cost the
 * database more than its rows. This many events, or half of a statement's bytes, do not wait.
 */
const COMPANY_MS = 100;
const COMPANY = 64;
/** Events for which there is no room yet. */
const ROOM_COMES_MS = 500;
/** For events that could not be stored; the scheduler would send them again after 5 s. */
const COMES_AGAIN_MS = 2_000;
/** For an event whose earlier one is just being stored by another node, or was lost and will be repeated. */
const EARLIER_COMES_MS = 250;

/** An event and its consequences. */
interface Planned extends PlannedEvent {
  readonly outboxId: string;
}

export class RunEventIntake implements Stoppable {
  private waiting = new WaitingEvents();
  private storing: Promise<void> | null = null;
  private onRoom: (() => void)[] = [];
  private begunMs = Number.NEGATIVE_INFINITY;
  private gathering: { readonly timer: Timer; readonly end: () => void } | null = null;
  private readonly encode = encoder(StoredEventsSchema);
  private readonly awaited: AwaitedEndpoints;
  private readonly handedBack: HandedBack;
  private stopped = false;

  constructor(private readonly options: RunEventIntakeOptions) {
    const { endpoints, clock, logger } = options;
    const onKnown = (events: readonly ReadyEvent[]) => this.add(events);
    this.handedBack = new HandedBack(clock);
    this.awaited = new AwaitedEndpoints({ endpoints, onKnown, clock, logger, comesAgainMs: COMES_AGAIN_MS });
  }

  /** Returns at once. Events that arrive during a statement are collected for the next one, in order. */
  take(messages: readonly IncomingEvent[]): void {
    const ready = this.awaited.take(messages);
    if (ready.length > 0) this.add(ready);
  }

  private add(events: readonly ReadyEvent[]): void {
    if (this.stopped) return;
    for (const event of events) if (!this.waiting.add(event)) this.handedBack.add(event, ROOM_COMES_MS);
    if (!this.storing) void this.storeAll();
    else if (this.isCompany()) this.endGathering();
  }

  /** Resolves when there is room for more. */
  async ready(): Promise<void> {
    while (!this.waiting.hasRoom) await new Promise<void>((resolve) => this.onRoom.push(resolve));
  }

  /** Resolves when no statement is in flight; waiting events are delivered again, to another node. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.awaited.stop();
    this.waiting = new WaitingEvents();
    this.endGathering();
    await this.storing;
    this.tellRoom();
  }

  private async storeAll(): Promise<void> {
    let done = () => {};
    this.storing = new Promise((resolve) => {
      done = resolve;
    });
    // One statement at a time: two at once could store, and send, a run's later event before the earlier one.
    for (;;) {
      await this.company();
      if (this.waiting.length === 0) break;
      this.begunMs = this.options.clock.monotonicMs();
      await this.storeBatch(this.waiting.take(BATCH_MAX, BATCH_BYTES_MAX));
      this.tellRoom();
      if (this.waiting.length === 0) break;
    }
    this.storing = null;
    done();
  }

  /** Resolves at once if the last statement began long enough ago. */
  private async company(): Promise<void> {
    const { clock } = this.options;
    const waitMs = this.begunMs + COMPANY_MS - clock.monotonicMs();
    if (waitMs <= 0 || this.isCompany()) return;
    await new Promise<void>((end) => {
      this.gathering = { timer: clock.after(waitMs, end), end };
    });
    this.gathering = null;
  }

  private isCompany(): boolean {
    return this.waiting.length >= COMPANY || this.waiting.cost >= BATCH_BYTES_MAX / 2;
  }

  private endGathering(): void {
    this.gathering?.timer.cancel();
    this.gathering?.end();
  }

  private tellRoom(): void {
    const waiting = this.onRoom;
    this.onRoom = [];
    for (const resume of waiting) resume();
  }

  private async storeBatch(events: readonly ReadyEvent[]): Promise<void> {
    const heard = events.map((event) => ({ ...event, decoded: decodedOf(event) }));
    const endpoints = new Map<OrgId, readonly EndpointTarget[]>(
      events.flatMap(({ orgId, targets }) => (orgId === null ? [] : [[orgId, targets]])),
    );
    const stored = new Set<DecodedEvent>();
    let deliveries = 0;
    let early: ReadonlySet<string>;
    try {
      early = await this.early(
        heard.flatMap(({ decoded }) => (decoded.ok ? [decoded.event] : [])),
        endpoints,
      );
      const all = heard.map(({ decoded }) => decoded);
      deliveries = await this.storeAllOf(all, { early, endpoints }, stored);
    } catch (error) {
      this.options.logger.warn({ error, events: events.length }, 'run events could not be stored; they come again');
      for (const one of heard) this.handedBack.add(one, COMES_AGAIN_MS);
      return;
    }
    const isEarly = ({ decoded }: (typeof heard)[number]) => decoded.ok && early.has(eventName(decoded.event));
    const done = heard.filter(({ decoded }) => stored.has(decoded));
    this.confirm(done.map(({ decoded }) => decoded.outboxId).filter((outboxId) => outboxId !== ''));
    for (const one of heard) {
      if (stored.has(one.decoded)) one.message.ack();
      else this.handedBack.add(one, isEarly(one) ? EARLIER_COMES_MS : COMES_AGAIN_MS);
    }
    if (deliveries > 0) this.options.onStored();
  }

  /**
   * Stores events in order, as many in one statement as fit. `stored` gets those that need no redelivery. Returns the
   * number of deliveries.
   */
  private async storeAllOf(
    heard: readonly DecodedEvent[],
    { early, endpoints }: { early: ReadonlySet<string>; endpoints: ReadonlyMap<OrgId, readonly EndpointTarget[]> },
    stored: Set<DecodedEvent>,
  ): Promise<number> {
    let gathered: Planned[] = [];
    let bytes = 0;
    let count = 0;
    const flush = async () => {
      const part = gathered;
      gathered = [];
      bytes = 0;
      await writeApart(
        part,
        (planned) => this.options.store(planned),
        ({ outboxId }, code) => this.tellRefused(outboxId, code),
      );
    };
    for (const decoded of heard) {
      const planned = this.plan(decoded, early, endpoints);
      if (planned === null) continue;
      stored.add(decoded);
      if (planned.deliveries.length === 0 && planned.question === null) continue;
      gathered.push(planned);
      count += planned.deliveries.length;
      bytes += planned.deliveries.reduce((sum, { body }) => sum + body.length, 0);
      if (bytes >= BATCH_BYTES_MAX) await flush();
    }
    await flush();
    return count;
  }

  /**
   * Null: it is delivered again. A malformed event stays malformed, so it is confirmed and logged; otherwise it would
   * return forever.
   */
  private plan(
    decoded: DecodedEvent,
    early: ReadonlySet<string>,
    endpoints: ReadonlyMap<OrgId, readonly EndpointTarget[]>,
  ): Planned | null {
    const { outboxId } = decoded;
    const refused = (fault: string) => {
      this.tellRefused(outboxId, fault);
      return { outboxId, deliveries: [], question: null };
    };
    if (!decoded.ok) return refused(decoded.fault);
    if (early.has(eventName(decoded.event))) return null;
    const targets = endpoints.get(decoded.event.orgId) ?? [];
    try {
      return { outboxId, ...planEvent(decoded.event, targets, this.options.mails) };
    } catch {
      return refused('no webhook can be made of it');
    }
  }

  /** Returns the names of the events whose run has an earlier one that is not stored yet. */
  private async early(
    events: readonly RunEvent[],
    endpoints: ReadonlyMap<OrgId, readonly EndpointTarget[]>,
  ): Promise<ReadonlySet<string>> {
    const nowMs = this.options.clock.wallMs();
    const ordered = events.filter((event) => keepsOrder(event, endpoints.get(event.orgId) ?? []));
    const earlier = ordered.map((event) => earlierEvent(event, nowMs)).filter((event) => event !== null);
    if (earlier.length === 0) return new Set();
    return tooEarly(events, new Set(ordered), await this.options.storedEvents(earlier), nowMs);
  }

  private tellRefused(outboxId: string, fault: string): void {
    this.options.logger.error({ outbox_id: outboxId, fault }, 'run event refused');
  }

  private confirm(outboxIds: readonly string[]): void {
    if (outboxIds.length === 0) return;
    const sendsNoMail = !this.options.mails;
    this.options.publish(runEventStored, this.encode({ outboxIds: [...outboxIds], sendsNoMail }));
  }
}

/** An event for another organization than its subject's would use the wrong endpoints. */
function decodedOf({ message, orgId }: ReadyEvent): DecodedEvent {
  const decoded = decodeRunEvent(message.data);
  if (!decoded.ok || decoded.event.orgId === orgId) return decoded;
  return { ok: false, outboxId: decoded.outboxId, fault: 'of another organization than its subject' };
}
