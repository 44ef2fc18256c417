// One reader of an organization's events: a number in the ring, and what its connection has not taken yet.
import { Readable } from 'node:stream';
import type { Clock } from '@methods/base/clock';
import type { LogReader, OrganizationLog } from '../../events/organization-log.ts';
import { readyEvent, resyncEvent } from '../../views/organization-events.ts';
import { droppedEvent } from '../../views/run-events.ts';
import { type BeatLimits, StreamBeat } from '../runs/stream-beat.ts';

export interface EventReaderParts {
  readonly clock: Clock;
  readonly limits: BeatLimits;
  readonly log: OrganizationLog;
  /** The last event the reader has; null: it begins. */
  readonly lastEventId: string | null;
  /** Whether the caller may still read. */
  readonly mayRead: () => Promise<boolean>;
  /** So many bytes of the organization went out. Null: the next may go at once. */
  readonly took: (bytes: number) => Promise<void> | null;
  /** Called once. */
  readonly onEnd: () => void;
}

const PART_BYTES = 64 * 1024;
/** What a reader waits before it comes back. */
const PREAMBLE = 'retry: 1000\n\n';

export class EventReader implements LogReader {
  readonly body: Readable;
  blockedSinceMs: number | null = null;
  /** Null: it has not begun. */
  private next: number | null = null;
  private waits = false;
  private ended = false;
  private readonly beat: StreamBeat;

  constructor(private readonly parts: EventReaderParts) {
    const { clock, limits, mayRead, log } = parts;
    this.body = new Readable({
      highWaterMark: PART_BYTES,
      read: () => {
        this.blockedSinceMs = null;
        this.flush();
      },
      destroy: (error, done) => {
        this.stop();
        done(error);
      },
    });
    this.beat = new StreamBeat(clock, limits, mayRead, this);
    log.readers.add(this);
    this.push(PREAMBLE);
  }

  flush(): void {
    const { log, took } = this.parts;
    if (!log.isOpen) return;
    this.next ??= this.begin();
    while (!this.ended && !this.waits && this.blockedSinceMs === null && this.next < log.ring.next) {
      const part = log.read(this.next, PART_BYTES);
      if (part === null) {
        this.next = this.resync();
        continue;
      }
      this.next = part.next;
      this.push(part.bytes);
      const wait = took(part.bytes.length);
      if (wait !== null) this.waitFor(wait);
    }
  }

  end(): void {
    if (this.ended) return;
    this.stop();
    this.body.push(null);
  }

  comment(): void {
    this.push(': still here\n\n');
  }

  // A reader that reads no more must not hold the connection indefinitely.
  drop(reason: 'slow' | 'unauthorized'): void {
    if (this.ended) return;
    this.body.push(droppedEvent(reason));
    this.end();
    this.parts.clock.after(this.parts.limits.slowMs, () => this.body.destroy());
  }

  private begin(): number {
    const { log, lastEventId, took } = this.parts;
    // A reader that comes again and again gets its part after those that are there.
    const wait = took(0);
    if (wait !== null) this.waitFor(wait);
    const known = lastEventId === null ? log.ring.next : log.ring.after(lastEventId);
    if (known === null) return this.resync();
    this.push(readyEvent(log.ring.idOf(known - 1)));
    return known;
  }

  /** The reader asks again for what it needs, which is at least as new as the next event. */
  private resync(): number {
    const { ring } = this.parts.log;
    this.push(resyncEvent(ring.idOf(ring.next - 1)));
    return ring.next;
  }

  private waitFor(wait: Promise<void>): void {
    this.waits = true;
    void wait.then(() => {
      this.waits = false;
      this.flush();
    });
  }

  private push(bytes: Buffer | string): void {
    if (!this.body.push(bytes)) this.blockedSinceMs = this.parts.clock.monotonicMs();
  }

  private stop(): void {
    if (this.ended) return;
    this.ended = true;
    this.beat.stop();
    this.parts.log.readers.delete(this);
    this.parts.onEnd();
  }
}
