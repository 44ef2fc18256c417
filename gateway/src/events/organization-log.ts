// The events of one organization for one audience: built once from what nodes push, kept in a ring, and read there by
// every reader at its own pace.
import type { Clock, Timer } from '@methods/base/clock';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { QuestionNews } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { OrganizationFollower } from '../clients/followed-organizations.ts';
import { type EventText, questionEvents, resyncEvent } from '../views/organization-events.ts';
import { EventRing, type EventRingOptions } from './event-ring.ts';

/** Programs get whole runs that wait or have finished; people get every change, without content. */
export type Audience = 'programs' | 'people';

export interface LogReader {
  /** There are new events, or a first one. */
  flush(): void;
  /** No more events follow: the process stops. */
  end(): void;
}

/** Returns the events of a state of a run; a promise if its version must be read. */
export type EventsOf = (run: RunView, stepsLeftOut: boolean) => EventText[] | Promise<EventText[]>;

/** A resync makes readers request everything again, so it is sent no more often than this. */
const RESYNC_EVERY_MS = 5_000;
/** Flushing one reader takes about a fifth of this, so that many readers take at most a fifth of the processor. */
const MS_PER_READER = 0.1;
const READERS_A_TURN = 50;
/** States that wait for their version to be read. */
const PENDING_MAX = 1_000;
/** Runs whose last revision is remembered, so that a late state of a run is no event. */
const REVISIONS_MAX = 10_000;

export class OrganizationLog implements OrganizationFollower {
  readonly ring: EventRing;
  readonly readers = new Set<LogReader>();
  /** Readers begin only then: they get everything from the ring's next number on. */
  isOpen = false;
  private readonly clock: Clock;
  private readonly revisions = new Map<string, number>();
  private delivery: Timer | null = null;
  private resyncAtMs = Number.NEGATIVE_INFINITY;
  private resync: Timer | null = null;
  private pending = 0;
  /** The latest part read, shared by all readers that are up to date. */
  private shared: { readonly from: number; readonly bytes: Buffer; readonly next: number } | null = null;

  constructor(
    private readonly options: EventRingOptions & {
      readonly eventsOf: EventsOf;
    },
  ) {
    this.clock = options.clock;
    this.ring = new EventRing(options);
  }

  run(run: RunView, stepsLeftOut: boolean): void {
    if ((this.revisions.get(run.runId) ?? -1) >= run.revision) return;
    this.revisions.delete(run.runId);
    this.revisions.set(run.runId, run.revision);
    if (this.revisions.size > REVISIONS_MAX) this.revisions.delete(this.revisions.keys().next().value as string);
    const events = this.options.eventsOf(run, stepsLeftOut);
    if (!(events instanceof Promise)) return this.add(events);
    if (this.pending >= PENDING_MAX) return this.missed();
    this.pending++;
    events
      .then(
        (texts) => this.add(texts),
        () => this.missed(),
      )
      .finally(() => {
        this.pending--;
      });
  }

  questions(changes: readonly QuestionNews[]): void {
    this.add(questionEvents(changes));
  }

  began(): void {
    this.open();
  }

  missed(): void {
    // No reader has begun, so none has missed anything.
    if (!this.isOpen) return this.open();
    if (this.resync !== null) return;
    const inMs = this.resyncAtMs + RESYNC_EVERY_MS - this.clock.monotonicMs();
    if (inMs <= 0) return this.addResync();
    this.resync = this.clock.after(inMs, () => {
      this.resync = null;
      this.addResync();
    });
  }

  add(events: readonly EventText[]): void {
    for (const text of events) if (!this.ring.add(text)) return this.missed();
    this.deliver();
  }

  /** Returns what a reader gets next; null: something it has not read is dropped. */
  read(from: number, bytesMax: number): { readonly bytes: Buffer; readonly next: number } | null {
    if (!this.ring.has(from)) return null;
    if (this.shared?.from !== from || (this.shared.bytes.length < bytesMax && this.shared.next < this.ring.next)) {
      this.shared = { from, ...this.ring.read(from, bytesMax) };
    }
    return this.shared;
  }

  /** Ends every reader and drops all events. */
  close(): void {
    this.delivery?.cancel();
    this.resync?.cancel();
    for (const reader of [...this.readers]) reader.end();
    this.ring.clear();
    this.shared = null;
  }

  private open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.deliver();
  }

  private addResync(): void {
    this.resyncAtMs = this.clock.monotonicMs();
    this.ring.add(resyncEvent);
    // If there was no room for the event, every reader finds a gap.
    this.deliver();
  }

  /** Runs at the end of a turn, or later with many readers, so that events of that time are sent together. */
  private deliver(): void {
    if (this.delivery !== null || this.readers.size === 0) return;
    const inMs = Math.floor(this.readers.size * MS_PER_READER);
    if (inMs === 0) {
      const immediate = setImmediate(() => this.deliverTo([...this.readers]));
      this.delivery = { cancel: () => clearImmediate(immediate) };
    } else this.delivery = this.clock.after(inMs, () => this.deliverTo([...this.readers]));
  }

  private deliverTo(readers: LogReader[]): void {
    for (const reader of readers.splice(0, READERS_A_TURN)) reader.flush();
    if (readers.length === 0) {
      this.delivery = null;
      this.shared = null;
      return;
    }
    const immediate = setImmediate(() => this.deliverTo(readers));
    this.delivery = { cancel: () => clearImmediate(immediate) };
  }
}
