// The latest events of one kind and organization, in the form that every reader gets: numbered, kept for a while, and
// dropped by bytes and age. A reader is only a number, so a thousand readers cost one copy, and one that does not read
// costs nothing.
import { randomBytes } from 'node:crypto';
import type { Clock } from '@methods/base/clock';

interface Kept {
  readonly bytes: Buffer;
  readonly atMs: number;
  readonly leave: () => void;
}

export interface EventRingOptions {
  readonly clock: Clock;
  /** Reserves this many bytes; null: there is no room. Returns a function that releases them. */
  readonly hold: (bytes: number) => (() => void) | null;
  readonly keptMs: number;
}

const COMPACT_AT = 256;
/** An id of our own events, of this ring or another. */
const EVENT_ID = /^([0-9a-f]{16})-(\d{1,15})$/;

export class EventRing {
  /** Unique: differs from that of every other ring, also of this organization's next one. */
  readonly id = randomBytes(8).toString('hex');
  /** Events before `head` are dropped. */
  private kept: (Kept | null)[] = [];
  private head = 0;
  /** The number of the first event kept. */
  private first = 1;
  private bytes = 0;

  constructor(private readonly options: EventRingOptions) {}

  /** The number of the next event. */
  get next(): number {
    return this.first + this.kept.length - this.head;
  }

  get keptBytes(): number {
    return this.bytes;
  }

  idOf(n: number): string {
    return `${this.id}-${n}`;
  }

  /**
   * Returns the number with which a reader that has this event continues; null: later events are dropped, or the id is
   * not ours.
   */
  after(eventId: string): number | null {
    const [, id, n] = EVENT_ID.exec(eventId) ?? [];
    const next = Number(n) + 1;
    return id === this.id && this.has(next) ? next : null;
  }

  /** Reports whether a reader may continue with this number. */
  has(n: number): boolean {
    return n >= this.first && n <= this.next;
  }

  /**
   * `text`: the event's text with this id. Returns false if there is no room for it; it leaves a gap that no reader can
   * cross.
   */
  add(text: (id: string) => string): boolean {
    const bytes = Buffer.from(text(this.idOf(this.next)));
    const { clock, hold, keptMs } = this.options;
    const atMs = clock.monotonicMs();
    while (this.oldest !== null && this.oldest.atMs < atMs - keptMs) this.forgetOldest();
    let leave = hold(bytes.length);
    while (leave === null && this.oldest !== null) {
      this.forgetOldest();
      leave = hold(bytes.length);
    }
    if (leave === null) {
      this.first++;
      return false;
    }
    this.kept.push({ bytes, atMs, leave });
    this.bytes += bytes.length;
    return true;
  }

  /** Returns as many events as fit from a number on, at least one if there is any. */
  read(from: number, bytesMax: number): { readonly bytes: Buffer; readonly next: number } {
    const parts: Buffer[] = [];
    let size = 0;
    let n = from;
    for (; n < this.next; n++) {
      const { bytes } = this.kept[this.head + n - this.first] as Kept;
      if (size > 0 && size + bytes.length > bytesMax) break;
      parts.push(bytes);
      size += bytes.length;
    }
    const [first] = parts;
    return { bytes: parts.length === 1 && first ? first : Buffer.concat(parts, size), next: n };
  }

  clear(): void {
    while (this.oldest !== null) this.forgetOldest();
  }

  private get oldest(): Kept | null {
    return this.kept[this.head] ?? null;
  }

  private forgetOldest(): void {
    const { bytes, leave } = this.kept[this.head] as Kept;
    leave();
    this.bytes -= bytes.length;
    this.kept[this.head++] = null;
    this.first++;
    if (this.head < COMPACT_AT || this.head * 2 < this.kept.length) return;
    this.kept = this.kept.slice(this.head);
    this.head = 0;
  }
}
