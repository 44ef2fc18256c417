// Calls to the run-schedulers about usage: the first node that answers reads it from the database.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import {
  type ListUsageRequestSchema,
  type ListUsageResponse,
  UsageService,
} from '@methods/proto/scheduler/v1/usage_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

const CALL_MS = 6_000;
/** `internal`: a node of an earlier release does not know the call. */
const NO_ANSWER: readonly string[] = ['unavailable', 'internal'];

export class UsageCalls implements Stoppable {
  private readonly clients: readonly Client<typeof UsageService>[];

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.clients = addresses.map((address) => rpcClient(UsageService, address));
  }

  /** @throws ServiceError */
  async list(request: MessageInitShape<typeof ListUsageRequestSchema>): Promise<ListUsageResponse> {
    for (const client of this.clients) {
      try {
        return await client.listUsage(request, { timeoutMs: CALL_MS });
      } catch (error) {
        if (!(error instanceof ServiceError) || !NO_ANSWER.includes(error.code)) throw error;
      }
    }
    throw new ServiceError('unavailable');
  }

  stop(): void {
    for (const client of this.clients) client.close();
  }
}
