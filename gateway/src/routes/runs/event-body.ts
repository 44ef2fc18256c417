// The body of a reply of events: its unread bytes, the comments that keep it open, and its end.
import { Readable } from 'node:stream';
import type { Clock } from '@methods/base/clock';
import { droppedEvent } from '../../views/run-events.ts';
import { type BeatenReply, type BeatLimits, StreamBeat } from './stream-beat.ts';

export interface EventBodyParts {
  readonly clock: Clock;
  readonly limits: BeatLimits;
  /** Whether the caller may still read. */
  readonly mayRead: () => Promise<boolean>;
  /** The reader takes more. */
  readonly onRead: () => void;
  /** Called once: nothing more is written. */
  readonly onEnd: () => void;
  /** The reader has all bytes, or has disconnected. */
  readonly onClosed?: () => void;
}

const BUFFERED_BYTES = 64 * 1024;
/** How long a reader waits before it reconnects. */
const PREAMBLE = 'retry: 1000\n\n';

export class EventBody implements BeatenReply {
  readonly readable: Readable;
  blockedSinceMs: number | null = null;
  private beat: StreamBeat | null = null;
  private over = false;

  constructor(private readonly parts: EventBodyParts) {
    this.readable = new Readable({
      highWaterMark: BUFFERED_BYTES,
      read: () => {
        this.blockedSinceMs = null;
        parts.onRead();
      },
      destroy: (error, done) => {
        this.stop();
        parts.onClosed?.();
        done(error);
      },
    });
  }

  get ended(): boolean {
    return this.over;
  }

  /** Reports whether events may be written now. */
  get takesMore(): boolean {
    return !this.over && this.blockedSinceMs === null;
  }

  /** From now on the caller's right is checked. */
  begin(): void {
    const { clock, limits, mayRead } = this.parts;
    this.push(PREAMBLE);
    this.beat = new StreamBeat(clock, limits, mayRead, this);
  }

  push(bytes: Buffer | string): void {
    if (!this.readable.push(bytes)) this.blockedSinceMs = this.parts.clock.monotonicMs();
  }

  comment(): void {
    this.push(': still here\n\n');
  }

  end(): void {
    if (this.over) return;
    this.stop();
    this.readable.push(null);
  }

  // A reader that has stopped reading must not hold the connection forever.
  drop(reason: 'slow' | 'unauthorized'): void {
    if (this.over) return;
    this.readable.push(droppedEvent(reason));
    this.end();
    this.parts.clock.after(this.parts.limits.slowMs, () => this.readable.destroy());
  }

  private stop(): void {
    if (this.over) return;
    this.over = true;
    this.beat?.stop();
    this.parts.onEnd();
  }
}
