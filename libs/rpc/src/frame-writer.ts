// Collects the items of one turn of the event loop into frames and counts the bytes that the peer has not read. An item
// too large for any message is omitted and reported; the items beside it are sent.
import { ServiceError } from '@methods/errors/service-error';
import { MESSAGE_BYTES_MAX } from './channel-options.ts';

const ITEMS_MAX = 256;
const FRAME_BYTES_MAX = 1024 * 1024;
/** A peer that leaves this much unread is disconnected. */
const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;

export interface FrameSink<Item> {
  encode(items: Item[]): Buffer;
  /** Hands a frame to the transport, which calls `taken` when it has room again. */
  write(frame: Buffer, taken: () => void): void;
  /** No message can carry this item: `too_large`, or `internal` if it is invalid. It was left out. */
  unsendable(item: Item, error: ServiceError): void;
  /** The peer does not read: more than the bound waits. */
  overflow(): void;
}

export class FrameWriter<Item> {
  private items: Item[] = [];
  private statedBytes = 0;
  private bytesInFlight = 0;
  private scheduled = false;
  private discarded = false;

  constructor(
    private readonly sink: FrameSink<Item>,
    private readonly bufferedBytesMax: number = BUFFERED_BYTES_MAX,
  ) {}

  /** Bytes of frames that the transport has not taken. */
  get bufferedBytes(): number {
    return this.bytesInFlight;
  }

  /** `bytes`: about how large a large item is, so that a turn of large ones is encoded in parts. */
  send(item: Item, bytes = 0): void {
    if (this.discarded) return;
    this.items.push(item);
    this.statedBytes += bytes;
    if (this.items.length >= ITEMS_MAX || this.statedBytes >= FRAME_BYTES_MAX) {
      this.flush();
    } else if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.endOfTurn);
    }
  }

  /** Writes the items sent in this turn so far. */
  flush(): void {
    const items = this.items;
    this.items = [];
    this.statedBytes = 0;
    if (items.length > 0) this.writeFrames(items);
  }

  /** Drops everything; later sends are ignored. */
  discard(): void {
    this.discarded = true;
    this.items = [];
  }

  private readonly endOfTurn = (): void => {
    this.scheduled = false;
    this.flush();
  };

  private writeFrames(items: Item[]): void {
    const [item] = items;
    if (this.discarded || item === undefined) return;
    let frame: Buffer;
    try {
      frame = this.sink.encode(items);
    } catch (error) {
      if (items.length > 1) this.writeHalves(items);
      else this.sink.unsendable(item, new ServiceError('internal', undefined, { cause: error }));
      return;
    }
    if (frame.length > FRAME_BYTES_MAX && items.length > 1) this.writeHalves(items);
    else if (frame.length > MESSAGE_BYTES_MAX) this.sink.unsendable(item, tooLarge());
    else this.writeFrame(frame);
  }

  private writeHalves(items: Item[]): void {
    const middle = items.length >> 1;
    this.writeFrames(items.slice(0, middle));
    this.writeFrames(items.slice(middle));
  }

  private writeFrame(frame: Buffer): void {
    if (this.bytesInFlight + frame.length > this.bufferedBytesMax) {
      this.discard();
      this.sink.overflow();
      return;
    }
    this.bytesInFlight += frame.length;
    this.sink.write(frame, () => {
      this.bytesInFlight -= frame.length;
    });
  }
}

function tooLarge(): ServiceError {
  return new ServiceError('too_large', 'It is larger than the 4 MiB of a message.');
}
