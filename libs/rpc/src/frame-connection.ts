// One stream of frames, the same for both sides: what may be sent, when the stream ends and why. The two sides differ
// only in how they reach the transport.
import type { Metadata } from '@grpc/grpc-js';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import { FrameWriter } from './frame-writer.ts';

export interface FrameConnection<Out> {
  /**
   * Queues an item; everything sent in one turn of the event loop leaves together at its end, so the item must not be
   * changed after this. `bytes`: the approximate size of a large item, if known. Returns false once the stream is
   * closing or closed: the item is dropped.
   */
  send(item: Out, bytes?: number): boolean;
  /** Without an error: sends what waits, then ends the stream; the peer may still send until it ends too. */
  close(error?: ServiceError): void;
  /** True from `close` on, or from the stream's end. */
  readonly closed: boolean;
  /** Bytes sent that the transport has not taken yet. */
  readonly bufferedBytes: number;
  /** Address of the other side, host:port, or `unknown`. */
  readonly peer: string;
  /** The metadata the dialling side sent. */
  readonly metadata: Metadata;
}

export interface FrameHandlers<In, Out = never> {
  /** All items of one frame, in the order they were sent; at least one. An exception closes the stream. */
  onItems(items: In[]): void;
  /**
   * Called exactly once, after the last items, and never from within `send` or `close`. Null after an orderly end from
   * either side; else why: `unavailable` when the peer is gone, cannot be reached or does not read. To a server, a
   * client that closed with an error may look like an orderly end.
   */
  onClose(error: ServiceError | null): void;
  /**
   * An item was not sent: it is beyond the 4 MiB of a message, or cannot be encoded. All other items are sent: others
   * share the stream. Without this handler `onFault` is called.
   */
  onUnsendable?(item: Out, error: ServiceError): void;
  /** The transport has taken a frame: `bufferedBytes` is less than before. */
  onTaken?(): void;
}

/** How a side reaches its transport. */
export interface FrameTransport<Out> {
  readonly peer: string;
  readonly metadata: Metadata;
  encode(items: Out[]): Buffer;
  write(frame: Buffer, taken: () => void): void;
  /** After all writes: ends the stream, with the error if there is one. */
  end(error: ServiceError | null): void;
  /** Ends the stream now and drops unsent items. */
  reset(): void;
}

// A peer that does not follow an orderly close is disconnected after this time.
const CLOSE_GRACE_MS = 5_000;

export class FrameStream<In, Out> implements FrameConnection<Out> {
  private state: 'open' | 'closing' | 'closed' = 'open';
  private reason: ServiceError | null = null;
  private handlers: FrameHandlers<In, Out> | null = null;
  private closeTimer: NodeJS.Timeout | null = null;
  private readonly writer: FrameWriter<Out>;

  constructor(
    private readonly transport: FrameTransport<Out>,
    /** Called with exceptions of handlers. */
    private readonly onFault: (error: unknown) => void,
    bufferedBytesMax?: number,
  ) {
    this.writer = new FrameWriter(
      {
        encode: (items) => transport.encode(items),
        write: (frame, taken) =>
          transport.write(frame, () => {
            taken();
            this.handlers?.onTaken?.();
          }),
        unsendable: (item, error) => this.unsendable(item, error),
        overflow: () => this.abort(new ServiceError('unavailable', 'The peer reads too slowly.')),
      },
      bufferedBytesMax,
    );
  }

  get closed(): boolean {
    return this.state !== 'open';
  }

  get bufferedBytes(): number {
    return this.writer.bufferedBytes;
  }

  get peer(): string {
    return this.transport.peer;
  }

  get metadata(): Metadata {
    return this.transport.metadata;
  }

  send(item: Out, bytes?: number): boolean {
    if (this.state !== 'open') return false;
    this.writer.send(item, bytes);
    return !this.closed;
  }

  close(error?: ServiceError): void {
    if (this.state === 'closed') return;
    this.reason ??= error ?? null;
    if (this.state === 'closing') return;
    this.state = 'closing';
    this.writer.flush();
    this.closeTimer = setTimeout(() => this.abort(new ServiceError('unavailable')), CLOSE_GRACE_MS);
    this.closeTimer.unref();
    this.transport.end(this.reason);
  }

  /** From here on items are delivered; if the stream has already ended, so is its end. */
  attach(handlers: FrameHandlers<In, Out>): void {
    this.handlers = handlers;
    if (this.state === 'closed') this.tellClosed();
  }

  /** The transport has items. */
  received(items: In[]): void {
    if (this.state === 'closed' || items.length === 0) return;
    try {
      this.handlers?.onItems(items);
    } catch (error) {
      this.failed(error);
    }
  }

  /** The transport has ended; the first reason given, ours or the peer's, is the one reported. */
  ended(error: ServiceError | null): void {
    if (this.state === 'closed') return;
    this.reason ??= error;
    this.state = 'closed';
    if (this.closeTimer) clearTimeout(this.closeTimer);
    this.writer.discard();
    if (this.handlers) this.tellClosed();
  }

  /** Ends at once and drops unsent items. */
  abort(error: ServiceError): void {
    if (this.state === 'closed') return;
    this.ended(error);
    this.transport.reset();
  }

  private unsendable(item: Out, error: ServiceError): void {
    if (!this.handlers?.onUnsendable) return this.onFault(error);
    try {
      this.handlers.onUnsendable(item, error);
    } catch (fault) {
      this.onFault(fault);
    }
  }

  private failed(error: unknown): void {
    this.onFault(error);
    this.close(asServiceError(error));
  }

  private tellClosed(): void {
    const { handlers, reason } = this;
    this.handlers = null;
    process.nextTick(() => {
      try {
        handlers?.onClose(reason);
      } catch (error) {
        this.onFault(error);
      }
    });
  }
}
