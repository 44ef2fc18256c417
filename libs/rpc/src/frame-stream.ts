// Streams of frames over gRPC: `dialFrames` opens one, `serveFrames` answers one. Both work on events, not on async
// iterators: iterating a duplex of grpc-js destroys it at the end of the requests and loses responses still buffered.

import { constants, type ServerHttp2Stream } from 'node:http2';
import type { DescMessage, DescMethodBiDiStreaming } from '@bufbuild/protobuf';
import {
  type ClientDuplexStream,
  Client as GrpcClient,
  Metadata,
  type ServerDuplexStream,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { fromGrpcError, toGrpcError } from '@methods/errors/grpc-status';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import { CLIENT_OPTIONS, dialTarget } from './channel-options.ts';
import { frameEncoder, type ReceivedItem, type SentItem } from './frame-codec.ts';
import { type FrameConnection, type FrameHandlers, FrameStream } from './frame-connection.ts';
import { FrameReader } from './frame-reader.ts';
import { callMetadata, methodPath, passBytes } from './message-codec.ts';

export type { ReceivedItem, SentItem } from './frame-codec.ts';
export type { FrameConnection, FrameHandlers } from './frame-connection.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface DialOptions<In, Out = never> extends FrameHandlers<In, Out> {
  /** The other side has accepted the stream. */
  onOpen?(): void;
  /**
   * Called with what the handlers throw. An exception of `onItems` is also the cause of the `internal` of `onClose`.
   */
  onFault?(error: unknown): void;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The other side must have accepted the stream by then; default 5 s. A refused connection is reported at once. */
  readonly connectTimeoutMs?: number;
  /** Bytes the peer may leave unread; default 64 MiB. */
  readonly bufferedBytesMax?: number;
}

/**
 * Opens a stream of frames to an address as `dialTarget` takes it, on its own connection that closes with it. Items may
 * be sent at once. It is tried once: `onClose` with `unavailable` reports that there is no connection, or no longer
 * one; the caller decides when to dial again.
 */
export function dialFrames<Up extends DescMessage, Down extends DescMessage>(
  method: DescMethodBiDiStreaming<Up, Down>,
  address: string,
  options: DialOptions<ReceivedItem<Down>, SentItem<Up>>,
): FrameConnection<SentItem<Up>> {
  const { target, credentials } = dialTarget(address);
  const client = new GrpcClient(target, credentials, CLIENT_OPTIONS);
  const metadata = callMetadata(options.metadata);
  const call: ClientDuplexStream<Buffer, Buffer> = client.makeBidiStreamRequest(
    methodPath(method),
    passBytes,
    passBytes,
    metadata,
  );
  const encode = frameEncoder(method.input);
  const stream = new FrameStream<ReceivedItem<Down>, SentItem<Up>>(
    {
      get peer() {
        return call.getPeer();
      },
      metadata,
      encode,
      write: (frame, taken) => call.write(frame, taken),
      end: (error) => (error ? call.cancel() : call.end()),
      reset: () => call.cancel(),
    },
    (error) => options.onFault?.(error),
    options.bufferedBytesMax,
  );
  const connectTimer = setTimeout(
    () => stream.abort(new ServiceError('unavailable', 'The connection was not accepted in time.')),
    options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  );
  stream.attach({
    onItems: (items) => options.onItems(items),
    onUnsendable: (item, error) => {
      if (options.onUnsendable) options.onUnsendable(item, error);
      else options.onFault?.(error);
    },
    onTaken: () => options.onTaken?.(),
    onClose: (error) => {
      clearTimeout(connectTimer);
      client.close();
      options.onClose(error);
    },
  });
  call.on('metadata', () => {
    clearTimeout(connectTimer);
    options.onOpen?.();
  });
  const reader = new FrameReader(method.output, {
    pause: () => call.pause(),
    resume: () => call.resume(),
    received: (items) => {
      stream.received(items);
      return true;
    },
    malformed: (error) => stream.abort(new ServiceError('internal', undefined, { cause: error })),
  });
  call.on('data', (bytes) => reader.read(bytes));
  endWithStatus(call, (error) => stream.ended(error));
  return stream;
}

// A status may overtake frames that are still in the stream's buffer; `end` comes after the last of them.
function endWithStatus(call: ClientDuplexStream<Buffer, Buffer>, ended: (error: ServiceError | null) => void): void {
  let outcome: StatusObject | null = null;
  const settle = () => {
    if (outcome && call.readableEnded) ended(outcome.code === status.OK ? null : fromGrpcError(outcome));
  };
  call.on('error', () => {}); // `status` reports it too; without a listener it would end the process
  call.on('status', (received) => {
    outcome = received;
    settle();
  });
  call.on('end', settle);
  call.on('close', settle);
}

/** Answers the streams of one rpc. Made by `serveFrames`, taken by a `ServiceImplementation`. */
export interface FrameService<In, Out> {
  accept(connection: FrameConnection<Out>): FrameHandlers<In, Out> | Promise<FrameHandlers<In, Out>>;
}

/**
 * Answers streams of frames. `accept` is called for each; a ServiceError it throws refuses the stream. Nothing is read
 * before it has returned its handlers, and it may send at once.
 */
export function serveFrames<In, Out>(accept: FrameService<In, Out>['accept']): FrameService<In, Out> {
  return { accept };
}

interface ServeFramesOptions {
  /** The streams that are open, so that a stopping server can end them. */
  readonly open: Set<{ close(error?: ServiceError): void }>;
  /** Fields and entries of a frame; default: as many as anything of ours has. */
  readonly elementsMax?: number | undefined;
  onFault(error: unknown): void;
}

/** The grpc-js handler of one frame service. */
export function frameHandler<Up extends DescMessage, Down extends DescMessage>(
  method: DescMethodBiDiStreaming<Up, Down>,
  service: FrameService<ReceivedItem<Up>, SentItem<Down>>,
  { open, elementsMax, onFault }: ServeFramesOptions,
): (call: ServerDuplexStream<Buffer, Buffer>) => void {
  const encode = frameEncoder(method.output);
  return (call) => {
    const stream = new FrameStream<ReceivedItem<Up>, SentItem<Down>>(
      {
        peer: call.getPeer(),
        metadata: call.metadata,
        encode,
        write: (frame, taken) => call.write(frame, taken),
        end: (error) => (error ? call.emit('error', toGrpcError(error)) : call.end()),
        reset: () => resetServerStream(call),
      },
      onFault,
    );
    const refuse = (message: string, cause?: unknown) =>
      stream.close(new ServiceError('invalid_request', message, { cause }));
    const reader = new FrameReader(
      method.input,
      {
        pause: () => call.pause(),
        resume: () => call.resume(),
        received: (items) => {
          if (items.length === 0) refuse('A frame is empty.');
          else stream.received(items);
          return items.length > 0;
        },
        malformed: (error) => refuse('A frame is malformed, or has too many fields or entries.', error),
      },
      { elementsMax, oneATurn: true },
    );
    open.add(stream);
    // The last event of every call of a server, also after an orderly end.
    call.on('cancelled', () => {
      open.delete(stream);
      stream.ended(
        call.writableFinished ? null : new ServiceError('unavailable', 'The connection to the peer was lost.'),
      );
    });
    call.on('end', () => stream.close());
    void acceptStream();

    async function acceptStream(): Promise<void> {
      try {
        const handlers = await service.accept(stream);
        stream.attach(handlers);
        call.sendMetadata(new Metadata());
        call.on('data', (bytes) => reader.read(bytes));
      } catch (error) {
        if (!(error instanceof ServiceError)) onFault(error);
        stream.close(asServiceError(error));
      }
    }
  };
}

// Ends a server's call at once. grpc-js offers only an orderly end, which waits for a peer that may never read.

interface CallInside {
  readonly call?: CallInside;
  readonly nextCall?: CallInside;
  readonly stream?: ServerHttp2Stream;
}

/** Resets the HTTP/2 stream below a server's call and drops what waits to be written. */
function resetServerStream(call: { destroy(): unknown }): void {
  // Private fields of grpc-js 1.14: call -> (interceptors) -> stream. The test of a peer that does not read guards this.
  let inside: CallInside | undefined = (call as unknown as CallInside).call;
  while (inside && !inside.stream) inside = inside.nextCall;
  inside?.stream?.close(constants.NGHTTP2_CANCEL);
  call.destroy();
}
