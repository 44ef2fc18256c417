// Sends large items on a stream that organizations share: no faster than the peer reads, in turn by organization, and
// with a bound on what waits for each organization. Without this the large items of one would fill the stream's buffer,
// and a full buffer ends the stream for all.
import type { OrgId } from '@methods/base/ids';
import type { FrameConnection } from './frame-connection.ts';

interface LargeItemsOptions {
  /** An item of this many bytes is large. Smaller ones go at once. */
  readonly largeBytes?: number;
  /** Large items wait while the peer has this much unread. */
  readonly unreadBytesMax?: number;
  /** The bytes one organization may have waiting. */
  readonly waitingBytesMax?: number;
}

interface Waiting<Out> {
  readonly items: { readonly item: Out; readonly bytes: number }[];
  bytes: number;
}

const LARGE_BYTES = 64 * 1024;
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export class LargeItems<Out> {
  private readonly waiting = new Map<string, Waiting<Out>>();
  private readonly options: Required<LargeItemsOptions>;

  constructor(
    private readonly connection: Pick<FrameConnection<Out>, 'send' | 'bufferedBytes'>,
    options: LargeItemsOptions = {},
  ) {
    this.options = {
      largeBytes: LARGE_BYTES,
      unreadBytesMax: UNREAD_BYTES_MAX,
      waitingBytesMax: WAITING_BYTES_MAX,
      ...options,
    };
  }

  /**
   * Without an organization small items never wait. `full`: the organization has too much waiting already; `closed`:
   * the stream is closed. The item is dropped then.
   */
  send(orgId: OrgId | '', item: Out): 'sent' | 'full' | 'closed' {
    const bytes = itemSize(item);
    const small = bytes < this.options.largeBytes;
    const waiting = this.waiting.get(orgId);
    // An organization's items stay in their order, so its small items wait behind its large ones.
    if (waiting === undefined ? small || this.hasRoom() : small && orgId === '') {
      return this.connection.send(item, bytes) ? 'sent' : 'closed';
    }
    if ((waiting?.bytes ?? 0) + bytes > this.options.waitingBytesMax) return 'full';
    if (waiting === undefined) this.waiting.set(orgId, { items: [{ item, bytes }], bytes });
    else {
      waiting.items.push({ item, bytes });
      waiting.bytes += bytes;
    }
    return 'sent';
  }

  /** The peer has read something. */
  taken(): void {
    while (this.waiting.size > 0 && this.hasRoom()) {
      const [orgId, waiting] = this.waiting.entries().next().value as [string, Waiting<Out>];
      const next = waiting.items.shift();
      // The others come first then.
      this.waiting.delete(orgId);
      if (next === undefined) continue;
      waiting.bytes -= next.bytes;
      if (waiting.items.length > 0) this.waiting.set(orgId, waiting);
      if (!this.connection.send(next.item, next.bytes)) return this.waiting.clear();
    }
  }

  private hasRoom(): boolean {
    return this.connection.bufferedBytes < this.options.unreadBytesMax;
  }
}

// About how many bytes an item of a frame takes: the texts and bytes in it, without encoding it.

const DEPTH_MAX = 8;
const FIELD_BYTES = 2;

/** Texts count a byte a character; callers need megabytes, not bytes. */
function itemSize(value: unknown, depth = DEPTH_MAX): number {
  if (typeof value === 'string') return value.length + FIELD_BYTES;
  if (typeof value !== 'object' || value === null || depth === 0) return FIELD_BYTES;
  if (value instanceof Uint8Array) return value.length + FIELD_BYTES;
  let size = FIELD_BYTES;
  if (Array.isArray(value)) {
    for (const each of value) size += itemSize(each, depth - 1);
    return size;
  }
  for (const name in value) size += itemSize((value as Record<string, unknown>)[name], depth - 1);
  return size;
}
