// Decodes the frames of one stream in the order of their arrival. A long frame is decoded in parts, one in each turn of
// the event loop, while nothing more of the stream is read.
import type { DescMessage } from '@bufbuild/protobuf';
import type { ReceivedItem } from './frame-codec.ts';
import { decoder, decoderInParts, PART_BYTES } from './message-codec.ts';

export interface FrameSource<Item> {
  /** Reading stops until `resume`. */
  pause(): void;
  resume(): void;
  /** False: the rest is dropped. */
  received(items: Item[]): boolean;
  /** A frame cannot be read. What comes after it is dropped. */
  malformed(error: unknown): void;
}

export interface FrameReaderOptions {
  readonly elementsMax?: number | undefined;
  /** One frame of the stream a turn: what one peer sends must not keep the others waiting. */
  readonly oneATurn?: boolean;
}

interface Frame<Item> {
  readonly items: Item[];
}

export class FrameReader<Desc extends DescMessage> {
  private readonly decode: (bytes: Buffer) => Frame<ReceivedItem<Desc>>;
  private readonly decodeInParts: (bytes: Buffer) => Iterator<void, Frame<ReceivedItem<Desc>>>;
  private readonly oneATurn: boolean;
  private dropsAll = false;

  constructor(
    frame: Desc,
    private readonly source: FrameSource<ReceivedItem<Desc>>,
    { elementsMax, oneATurn = false }: FrameReaderOptions = {},
  ) {
    this.decode = decoder(frame, elementsMax) as unknown as typeof this.decode;
    this.decodeInParts = decoderInParts(frame, elementsMax) as unknown as typeof this.decodeInParts;
    this.oneATurn = oneATurn;
  }

  read(bytes: Buffer): void {
    if (this.dropsAll) return;
    if (bytes.length > PART_BYTES) {
      const parts = this.attempt(() => this.decodeInParts(bytes));
      if (parts !== null) this.readInParts(parts);
      return;
    }
    const frame = this.attempt(() => this.decode(bytes));
    if (frame !== null) this.deliver(frame);
    if (this.oneATurn && !this.dropsAll) {
      this.source.pause();
      setImmediate(() => this.source.resume());
    }
  }

  private readInParts(parts: Iterator<void, Frame<ReceivedItem<Desc>>>): void {
    this.source.pause();
    const part = this.attempt(() => parts.next());
    if (part !== null && part.done !== true) {
      setImmediate(() => this.readInParts(parts));
      return;
    }
    if (part !== null) this.deliver(part.value);
    setImmediate(() => this.source.resume());
  }

  private deliver({ items }: Frame<ReceivedItem<Desc>>): void {
    if (!this.source.received(items)) this.dropsAll = true;
  }

  private attempt<T>(decode: () => T): T | null {
    try {
      return decode();
    } catch (error) {
      this.dropsAll = true;
      this.source.malformed(error);
      return null;
    }
  }
}
