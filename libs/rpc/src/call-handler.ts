// One call of a server that is not a stream of frames: runs the handler, refuses calls past their deadline, converts
// errors to a status, and writes one wide record.
import type { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { DescMethod } from '@bufbuild/protobuf';
import {
  type Metadata,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { toGrpcError } from '@methods/errors/grpc-status';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import { methodPath } from './message-codec.ts';
import { writeAll } from './write-all.ts';

/** The context of a call besides its request. */
export interface CallContext {
  readonly metadata: Metadata;
  /** Aborted when the caller has gone or its time is up. A handler that waits for something must watch it. */
  readonly signal: AbortSignal;
  /** Wall time in ms since the epoch at which the caller stops waiting; Infinity when it named none. */
  readonly deadlineMs: number;
  /** The caller's address, host:port. */
  readonly peer: string;
}

/** The target of records; `Logger` of @methods/logging fits. */
export interface RpcLogger {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface CallHandlerOptions {
  readonly logger: RpcLogger;
  /** Streams of frames that are open now. */
  readonly openFrames: Set<{ close(error?: ServiceError): void }>;
  /** Fields and entries of a frame; default: as many as any message of ours has. */
  readonly elementsMax?: number | undefined;
}

type Message = object;
type ReplyHandler = (request: unknown, context: CallContext) => Promise<Message> | Message;
type StreamHandler = (request: unknown, context: CallContext) => AsyncIterable<Message>;
type AnyServerCall =
  | ServerUnaryCall<unknown, Message>
  | ServerReadableStream<unknown, Message>
  | ServerWritableStream<unknown, Message>;

export function callHandler(
  method: DescMethod,
  handler: ReplyHandler | StreamHandler,
  { logger }: CallHandlerOptions,
): UntypedHandleCall {
  const rpc = methodPath(method);
  if (method.methodKind === 'server_streaming') {
    return (call: ServerWritableStream<unknown, Message>) => {
      const running = new RunningCall(rpc, call, logger);
      running
        .run(() => writeAll((handler as StreamHandler)(call.request, running.context), call, running.context.signal))
        .then(
          () => call.end(),
          (error) => call.emit('error', toGrpcError(error)),
        );
    };
  }
  return (
    call: ServerUnaryCall<unknown, Message> | ServerReadableStream<unknown, Message>,
    reply: sendUnaryData<Message>,
  ) => {
    const running = new RunningCall(rpc, call, logger);
    const request = 'request' in call ? call.request : requestsOf(call);
    running
      .run(async () => (handler as ReplyHandler)(request, running.context))
      .then(
        (message) => reply(null, message),
        (error) => reply(toGrpcError(error)),
      );
  };
}

const CALLER_LEFT = 'The caller left before the end of its requests.';

/**
 * Reads the requests of a stream. grpc-js ends the iteration without an error when the call is reset or its connection
 * lost, and half an upload must not count as a whole one. But a client on Node that cancels sends an orderly end before
 * the reset, often in a separate packet, which looks like a real one: a handler that needs all requests needs their
 * size in the first message.
 */
async function* requestsOf(call: ServerReadableStream<unknown, Message>): AsyncGenerator<unknown, void> {
  // `destroyOnReturn`: a handler that stops reading early must still be able to answer.
  try {
    yield* call.iterator({ destroyOnReturn: false });
  } catch (error) {
    // Node's message if the connection is lost before the call is reset.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    throw new ServiceError('unavailable', CALLER_LEFT, { cause: error });
  }
  // Of an end and a reset in one packet the second is reported within the turn. `cancelled` also follows an orderly
  // end, but not before the handler has answered.
  await turn();
  if (call.cancelled) throw new ServiceError('unavailable', CALLER_LEFT);
}

class RunningCall {
  readonly context: CallContext;
  private readonly startedAtMs = performance.now();
  private readonly abort = new AbortController();
  private finished = false;

  constructor(
    private readonly rpc: string,
    call: AnyServerCall,
    private readonly logger: RpcLogger,
  ) {
    this.context = {
      metadata: call.metadata,
      signal: this.abort.signal,
      deadlineMs: Number(call.getDeadline()),
      peer: call.getPeer(),
    };
    // grpc-js says `cancelled` after an orderly end too.
    (call as EventEmitter).on('cancelled', () => {
      if (!this.finished) this.abort.abort();
    });
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (this.context.deadlineMs <= Date.now()) throw new ServiceError('unavailable', 'The time for this call is up.');
      const result = await work();
      this.record('debug', 'ok');
      return result;
    } catch (error) {
      this.recordFailure(error);
      throw error;
    } finally {
      this.finished = true;
    }
  }

  private recordFailure(error: unknown): void {
    const { code, cause } = asServiceError(error);
    if (this.abort.signal.aborted) this.record('debug', 'cancelled');
    else if (code === 'internal') this.record('error', code, { error: cause ?? error });
    else this.record('info', code, cause === undefined ? {} : { error: cause });
  }

  private record(level: 'debug' | 'info' | 'error', code: string, more: Record<string, unknown> = {}): void {
    const [requestId] = this.context.metadata.get('x-request-id');
    this.logger[level](
      {
        rpc: this.rpc,
        code,
        peer: this.context.peer,
        ...(typeof requestId === 'string' ? { request_id: requestId } : {}),
        total_ms: Math.round((performance.now() - this.startedAtMs) * 10) / 10,
        ...more,
      },
      'rpc',
    );
  }
}
