// Calls that any run-scheduler node serves and that may be repeated: one that a node does not answer goes to the next.
import type { DescService } from '@bufbuild/protobuf';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { type CallOptions, type Client, rpcClient } from '@methods/rpc/client';

/** A little longer than a node waits for the owner of a run, or for its database. */
const CALL_MS = 6_000;
/** `internal`: a node of an earlier release does not know the call. */
const NO_ANSWER: readonly string[] = ['unavailable', 'internal'];

type Call = (request: never, options: CallOptions) => Promise<unknown>;

export class AnyNode<Service extends DescService> implements Stoppable {
  private readonly clients: readonly Client<Service>[];
  private turn = 0;

  /** `host:port` of each node. */
  constructor(service: Service, addresses: readonly string[]) {
    this.clients = addresses.map((address) => rpcClient(service, address));
  }

  /** The call of this name, at the nodes in turn. */
  call<Name extends Exclude<keyof Client<Service>, 'close'>>(name: Name): Client<Service>[Name] {
    const call = async (request: never, options: CallOptions = { timeoutMs: CALL_MS }) => {
      const turn = this.turn++;
      let refusal: unknown = new ServiceError('unavailable');
      for (let i = 0; i < this.clients.length; i++) {
        const client = this.clients[(turn + i) % this.clients.length] as Client<Service>;
        try {
          return await (client[name] as Call)(request, options);
        } catch (error) {
          if (!(error instanceof ServiceError) || !NO_ANSWER.includes(error.code)) throw error;
          refusal = error;
        }
      }
      throw refusal;
    };
    return call as unknown as Client<Service>[Name];
  }

  stop(): void {
    for (const client of this.clients) client.close();
  }
}
