// Adapts a protobuf-es service to grpc-js: the definition, and handlers with plain types, ServiceErrors and one log
// record for each call.
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
import type { ServiceDefinition, UntypedHandleCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { type CallContext, type CallHandlerOptions, callHandler } from './call-handler.ts';
import type { ReceivedItem, SentItem } from './frame-codec.ts';
import { type FrameService, frameHandler } from './frame-stream.ts';
import { decoder, encoder, methodPath, passBytes } from './message-codec.ts';

export type { CallContext } from './call-handler.ts';

export type ServiceImplementation<S extends DescService> = {
  [K in keyof S['method']]: MethodImplementation<S['method'][K]>;
};

type MethodImplementation<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>> | MessageInitShape<O>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
      : M extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, context: CallContext) => Promise<MessageInitShape<O>>
        : M extends DescMethodBiDiStreaming<infer I, infer O>
          ? FrameService<ReceivedItem<I>, SentItem<O>>
          : never;

/** `elementsMax`: fields and entries of a request; default: as many as any message of ours has. */
export function serviceDefinition(service: DescService, elementsMax?: number): ServiceDefinition {
  return Object.fromEntries(service.methods.map((method) => [method.localName, methodDefinition(method, elementsMax)]));
}

function methodDefinition(method: DescMethod, elementsMax?: number): ServiceDefinition[string] {
  const frames = method.methodKind === 'bidi_streaming';
  return {
    path: methodPath(method),
    requestStream: frames || method.methodKind === 'client_streaming',
    responseStream: frames || method.methodKind === 'server_streaming',
    requestSerialize: frames ? passBytes : encoder<DescMessage>(method.input),
    requestDeserialize: frames ? passBytes : decoder(method.input, elementsMax),
    responseSerialize: frames ? passBytes : encoder<DescMessage>(method.output),
    responseDeserialize: frames ? passBytes : decoder(method.output),
  };
}

/** Handlers for `grpc.Server.addService`. A method without an implementation stays unimplemented. */
export function implementation<S extends DescService>(
  service: S,
  handlers: ServiceImplementation<S>,
  options: CallHandlerOptions,
): UntypedServiceImplementation {
  const given = handlers as Record<string, unknown>;
  const methods = service.methods.filter(({ localName }) => given[localName] !== undefined);
  return Object.fromEntries(
    methods.map((method) => [method.localName, grpcHandler(method, given[method.localName], options)]),
  );
}

// The types were checked against the service where the implementation was written.
function grpcHandler(method: DescMethod, handler: unknown, options: CallHandlerOptions): UntypedHandleCall {
  if (method.methodKind !== 'bidi_streaming') return callHandler(method, handler as never, options);
  const rpc = methodPath(method);
  return frameHandler(
    method as DescMethodBiDiStreaming<DescMessage, DescMessage>,
    handler as FrameService<never, never>,
    {
      open: options.openFrames,
      elementsMax: options.elementsMax,
      onFault: (error) => options.logger.error({ rpc, error }, 'frame handler failed'),
    },
  );
}
