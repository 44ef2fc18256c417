// The latest events of one kind and organization, as they go to every reader: numbered, kept for a while, and forgotten
// by bytes and age. A reader is a number and nothing else, so that a thousand of them cost one copy, and one that does
// not read costs none.
import { randomBytes } from 'node:crypto';
import type { Clock } from '@methods/base/clock';

interface Kept {
  readonly bytes: Buffer;
  readonly atMs: number;
  readonly leave: () => void;
}

export interface EventRingOptions {
  readonly clock: Clock;
  /** Room for so many bytes; null: there is none. Returns a function that gives it back. */
  readonly hold: (bytes: number) => (() => void) | null;
  readonly keptMs: number;
}

const COMPACT_AT = 256;
/** An id of one of ours, of this ring or another. */
const EVENT_ID = /^([0-9a-f]{16})-(\d{1,15})$/;

export class EventRing {
  /** Unknown to every other ring, also to the next one of this organization. */
  readonly id = randomBytes(8).toString('hex');
  /** Those before `head` are forgotten. */
  private kept: (Kept | null)[] = [];
  private head = 0;
  /** The number of the first one kept. */
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

  /** The number a reader continues with that has this event; null: what follows is forgotten, or it is none of ours. */
  after(eventId: string): number | null {
    const [, id, n] = EVENT_ID.exec(eventId) ?? [];
    const next = Number(n) + 1;
    return id === this.id && this.has(next) ? next : null;
  }

  /** A reader may continue with this number. */
  has(n: number): boolean {
    return n >= this.first && n <= this.next;
  }

  /** `text`: of the event with this id. False: there is no room for it, and it leaves a gap that no number crosses. */
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

  /** From a number on as many as fit, at least one if there is any. */
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
