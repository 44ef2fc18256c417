// A reader of an organization's events: its number in the ring, and the bytes that its connection has not taken.
import type { Readable } from 'node:stream';
import type { Clock } from '@methods/base/clock';
import type { LogReader, OrganizationLog } from '../../events/organization-log.ts';
import { readyEvent, resyncEvent } from '../../views/organization-events.ts';
import { EventBody } from '../runs/event-body.ts';
import type { BeatLimits } from '../runs/stream-beat.ts';

export interface EventReaderParts {
  readonly clock: Clock;
  readonly limits: BeatLimits;
  readonly log: OrganizationLog;
  /** The last event that the reader has; null: it begins. */
  readonly lastEventId: string | null;
  /** Reports whether the caller may still read. */
  readonly mayRead: () => Promise<boolean>;
  /** This many bytes of the organization were sent. Null: the next ones may follow at once. */
  readonly took: (bytes: number) => Promise<void> | null;
  /** Called once. */
  readonly onEnd: () => void;
}

const PART_BYTES = 64 * 1024;

export class EventReader implements LogReader {
  /** Null: the reader has not begun. */
  private next: number | null = null;
  private waits = false;
  private readonly events: EventBody;

  constructor(private readonly parts: EventReaderParts) {
    const { clock, limits, mayRead, log, onEnd } = parts;
    this.events = new EventBody({
      clock,
      limits,
      mayRead,
      onRead: () => this.flush(),
      onEnd: () => {
        log.readers.delete(this);
        onEnd();
      },
    });
    log.readers.add(this);
    this.events.begin();
  }

  get body(): Readable {
    return this.events.readable;
  }

  flush(): void {
    const { log, took } = this.parts;
    if (!log.isOpen) return;
    this.next ??= this.begin();
    while (!this.waits && this.events.takesMore && this.next < log.ring.next) {
      const part = log.read(this.next, PART_BYTES);
      if (part === null) {
        this.next = this.resync();
        continue;
      }
      this.next = part.next;
      this.events.push(part.bytes);
      const wait = took(part.bytes.length);
      if (wait !== null) this.waitFor(wait);
    }
  }

  end(): void {
    this.events.end();
  }

  private begin(): number {
    const { log, lastEventId, took } = this.parts;
    // A reader that reconnects repeatedly gets its part after the readers that are connected.
    const wait = took(0);
    if (wait !== null) this.waitFor(wait);
    const known = lastEventId === null ? log.ring.next : log.ring.after(lastEventId);
    if (known === null) return this.resync();
    this.events.push(readyEvent(log.ring.idOf(known - 1)));
    return known;
  }

  /** The reader requests what it needs again, which is at least as new as the next event. */
  private resync(): number {
    const { ring } = this.parts.log;
    this.events.push(resyncEvent(ring.idOf(ring.next - 1)));
    return ring.next;
  }

  private waitFor(wait: Promise<void>): void {
    this.waits = true;
    void wait.then(() => {
      this.waits = false;
      this.flush();
    });
  }
}
