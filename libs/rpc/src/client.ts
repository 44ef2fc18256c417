// A client for one service at one address: promises and async iterables, a deadline on every call, ServiceErrors.
import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import {
  type ClientReadableStream,
  Client as GrpcClient,
  type ServiceError as GrpcServiceError,
  status,
} from '@grpc/grpc-js';
import { fromGrpcError } from '@methods/errors/grpc-status';
import { ServiceError } from '@methods/errors/service-error';
import type { CallContext } from './call-handler.ts';
import { CLIENT_OPTIONS, dialTarget } from './channel-options.ts';
import { callMetadata, decoder, encoder, methodPath } from './message-codec.ts';
import { writeAll } from './write-all.ts';

const UNARY_TIMEOUT_MS = 10_000;
const STREAM_TIMEOUT_MS = 300_000;

export interface CallOptions {
  /** How long to wait; default 10 s, 5 min for streams. */
  readonly timeoutMs?: number;
  /** The call on whose behalf this one is made: this call ends with it, and a little before its deadline. */
  readonly parent?: Pick<CallContext, 'deadlineMs' | 'signal'>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Every method rejects with a ServiceError. Streams of frames are not here: see `dialFrames`. */
export type Client<S extends DescService> = {
  [K in keyof S['method'] as S['method'][K] extends DescMethodBiDiStreaming ? never : K]: ClientMethod<S['method'][K]>;
} & { close(): void };

type ClientMethod<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
      : M extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageInitShape<I>>, options?: CallOptions) => Promise<MessageShape<O>>
        : never;

interface ClientOptions {
  /** Sent with every call. */
  readonly metadata?: () => Readonly<Record<string, string>>;
}

/**
 * Connects to an address as `dialTarget` takes it, at the first call and again whenever needed. While the other side is
 * unavailable, calls fail at once with `unavailable` instead of waiting.
 */
export function rpcClient<S extends DescService>(service: S, address: string, options: ClientOptions = {}): Client<S> {
  const { target, credentials } = dialTarget(address);
  const client = new GrpcClient(target, credentials, CLIENT_OPTIONS);
  const methods = service.methods
    .filter(({ methodKind }) => methodKind !== 'bidi_streaming')
    .map((method) => [method.localName, clientMethod(client, method, options)]);
  return { ...Object.fromEntries(methods), close: () => client.close() };
}

type AnyMessage = MessageShape<DescMessage>;

function clientMethod(client: GrpcClient, method: DescMethod, { metadata: always }: ClientOptions): unknown {
  const path = methodPath(method);
  const encode = encoder<DescMessage>(method.input);
  const decode = decoder(method.output);
  const metadataOf = ({ metadata }: CallOptions) => callMetadata({ ...always?.(), ...metadata });
  switch (method.methodKind) {
    case 'unary':
      return (request: AnyMessage, options: CallOptions = {}) =>
        new Promise<AnyMessage>((resolve, reject) => {
          const limits = limitsOf(options, UNARY_TIMEOUT_MS);
          const settle = (error: GrpcServiceError | null, reply?: AnyMessage) => {
            release();
            if (reply) resolve(reply);
            else reject(fromGrpcError(error));
          };
          const call = client.makeUnaryRequest(path, encode, decode, request, metadataOf(options), limits, settle);
          const release = cancelOnAbort(call, options);
        });
    case 'client_streaming':
      return (requests: AsyncIterable<AnyMessage>, options: CallOptions = {}) =>
        new Promise<AnyMessage>((resolve, reject) => {
          const limits = limitsOf(options, STREAM_TIMEOUT_MS);
          const settled = new AbortController();
          const settle = (error: GrpcServiceError | null, reply?: AnyMessage) => {
            release();
            settled.abort();
            if (reply) resolve(reply);
            else reject(fromGrpcError(error));
          };
          const call = client.makeClientStreamRequest(path, encode, decode, metadataOf(options), limits, settle);
          const release = cancelOnAbort(call, options);
          call.on('error', () => {}); // a write after the server's refusal; the refusal itself is in `settle`
          writeAll(requests, call, settled.signal).then(
            () => call.end(),
            (error) => {
              reject(error); // the caller's own iterable failed: its error, not the cancellation that follows
              call.cancel();
            },
          );
        });
    case 'server_streaming':
      return (request: AnyMessage, options: CallOptions = {}) =>
        received(options, () =>
          client.makeServerStreamRequest(
            path,
            encode,
            decode,
            request,
            metadataOf(options),
            limitsOf(options, STREAM_TIMEOUT_MS),
          ),
        );
    default:
      return undefined;
  }
}

// The call begins with the first read. Leaving the loop early must cancel it: only destroying a stream of grpc-js
// leaves the server working.
async function* received<Message>(options: CallOptions, begin: () => ClientReadableStream<Message>) {
  const call = begin();
  const release = cancelOnAbort(call, options);
  call.on('error', () => {});
  let complete = false;
  try {
    yield* call.iterator({ destroyOnReturn: false }) as AsyncIterable<Message>;
    complete = true;
  } catch (error) {
    complete = true;
    throw fromGrpcError(error);
  } finally {
    release();
    if (!complete) call.cancel();
  }
}

function limitsOf(options: CallOptions, defaultTimeoutMs: number): { deadline: number } {
  const wantedMs = options.timeoutMs ?? defaultTimeoutMs;
  const timeoutMs = options.parent ? nextHopTimeoutMs(options.parent.deadlineMs, wantedMs) : wantedMs;
  if (timeoutMs <= 0) throw new ServiceError('unavailable', 'The time for this call is up.');
  return { deadline: Date.now() + timeoutMs };
}

/** Returns a function that removes the listeners: a long-lived signal must not collect one for each call. */
function cancelOnAbort(call: { cancel(): void }, { signal, parent }: CallOptions): () => void {
  const cancel = () => call.cancel();
  const signals = [signal, parent?.signal].filter((candidate) => candidate !== undefined);
  for (const each of signals) {
    if (each.aborted) cancel();
    else each.addEventListener('abort', cancel, { once: true });
  }
  return () => {
    for (const each of signals) each.removeEventListener('abort', cancel);
  };
}

// How long the next hop may take: a little less than the caller still waits, so that its refusal arrives in time.

const SHAVE_SHARE = 0.05;
const SHAVE_MS_MIN = 20;

/**
 * The time left for a call made on behalf of one that ends at `deadlineMs` (wall ms; Infinity: none), and never more
 * than `wantedMs`. Not above 0 when there is nothing left.
 */
export function nextHopTimeoutMs(deadlineMs: number, wantedMs: number, nowMs: number = Date.now()): number {
  const leftMs = deadlineMs - nowMs;
  if (leftMs === Number.POSITIVE_INFINITY) return wantedMs;
  return Math.min(wantedMs, leftMs - Math.max(SHAVE_MS_MIN, leftMs * SHAVE_SHARE));
}

/** Reports whether a call failed because its service does not know it: a process of the previous release. */
export function isUnknownCall({ cause }: ServiceError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === status.UNIMPLEMENTED;
}
