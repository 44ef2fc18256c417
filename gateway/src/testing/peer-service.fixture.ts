// A gRPC service whose replies a test gives one by one; a call without a reply gets `internal`.
import { ServiceError } from '@methods/errors/service-error';
import { MESSAGE_BYTES_MAX } from '@methods/rpc/channel-options';
import { type ServedService, served } from '@methods/rpc/server';
import type { ServiceImplementation } from '@methods/rpc/service-definition';

type DescService = ServedService[0];

// biome-ignore lint/suspicious/noExplicitAny: handlers of all shapes are in one map
type AnyHandler = (request: any, context: any) => unknown;

export class PeerService<S extends DescService> {
  private readonly handlers = new Map<string, AnyHandler>();

  /** Calls `heard` with the name of every call before the reply; it may refuse the call. */
  constructor(
    private readonly service: S,
    private readonly heard: (name: string) => void,
  ) {}

  /** From now on these handlers answer the calls. */
  answer(handlers: Partial<ServiceImplementation<S>>): void {
    for (const [name, handler] of Object.entries(handlers)) this.handlers.set(name, handler as AnyHandler);
  }

  get served(): ServedService {
    const calls = this.service.methods.map(({ localName: name }) => {
      const call: AnyHandler = (request, context) => {
        this.heard(name);
        const handler = this.handlers.get(name);
        if (handler === undefined) throw new ServiceError('internal');
        return handler(request, context);
      };
      return [name, call];
    });
    const sizes = this.service.methods.map(({ localName }) => [localName, MESSAGE_BYTES_MAX]);
    return served<DescService>(this.service, Object.fromEntries(calls), Object.fromEntries(sizes));
  }
}
