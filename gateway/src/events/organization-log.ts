// The events of one organization for one audience: made once of what nodes push, kept in a ring, and read from there by
// every reader at its own pace.
import type { Clock, Timer } from '@methods/base/clock';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { QuestionNews } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { OrganizationFollower } from '../clients/followed-organizations.ts';
import { type EventText, questionEvents, resyncEvent } from '../views/organization-events.ts';
import { EventRing, type EventRingOptions } from './event-ring.ts';

/** Programs get runs that wait or have finished, whole; people every change, without content. */
export type Audience = 'programs' | 'people';

export interface LogReader {
  /** There are new events, or the first word. */
  flush(): void;
  /** No more will come: the process stops. */
  end(): void;
}

/** The events a state of a run is; a promise where its version has to be read. */
export type EventsOf = (run: RunView, stepsLeftOut: boolean) => EventText[] | Promise<EventText[]>;

/** A resync makes readers ask again: no more often than this. */
const RESYNC_EVERY_MS = 5_000;
/** A flush of one reader takes about a fifth of this, so that many readers take a fifth of the processor at most. */
const MS_PER_READER = 0.1;
const READERS_A_TURN = 50;
/** States that wait for their version to be read. */
const PENDING_MAX = 1_000;
/** Runs whose last revision is known, so that a late state of a run is no event. */
const REVISIONS_MAX = 10_000;

export class OrganizationLog implements OrganizationFollower {
  readonly ring: EventRing;
  readonly readers = new Set<LogReader>();
  /** Readers begin only then: everything from the ring's next number on comes. */
  isOpen = false;
  private readonly clock: Clock;
  private readonly revisions = new Map<string, number>();
  private delivery: Timer | null = null;
  private resyncAtMs = Number.NEGATIVE_INFINITY;
  private resync: Timer | null = null;
  private pending = 0;
  /** The latest part that was read, for all readers that are there. */
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

  /** What a reader gets next; null: something it has not read is forgotten. */
  read(from: number, bytesMax: number): { readonly bytes: Buffer; readonly next: number } | null {
    if (!this.ring.has(from)) return null;
    if (this.shared?.from !== from || (this.shared.bytes.length < bytesMax && this.shared.next < this.ring.next)) {
      this.shared = { from, ...this.ring.read(from, bytesMax) };
    }
    return this.shared;
  }

  /** Every reader ends, and nothing is kept. */
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
    // Where there was no room for it, every reader finds a gap.
    this.deliver();
  }

  /** At the end of a turn, with many readers later: what comes meanwhile goes out together. */
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
