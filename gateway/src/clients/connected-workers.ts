// The workers of an organization, as all run-scheduler nodes together know them.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import {
  type ConnectedWorker,
  type ListWorkersResponse,
  WorkerListService,
} from '@methods/proto/scheduler/v1/worker_list_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

const CALL_MS = 2_000;
/** `internal`: a node of an earlier release does not know the call. */
const NO_ANSWER: readonly string[] = ['unavailable', 'internal'];

export interface WorkerList {
  /** The latest first. */
  readonly workers: readonly ConnectedWorker[];
  /** Counts also the workers that are not listed. */
  readonly count: number;
  /** Whether every node answered; the workers of other nodes are not listed. */
  readonly isComplete: boolean;
}

export class ConnectedWorkers implements Stoppable {
  private readonly clients: readonly Client<typeof WorkerListService>[];

  /** `host:port` of each node. */
  constructor(addresses: readonly string[]) {
    this.clients = addresses.map((address) => rpcClient(WorkerListService, address));
  }

  /** @throws ServiceError unavailable if no node answered. */
  async list(orgId: OrgId): Promise<WorkerList> {
    const replies = await Promise.all(
      this.clients.map((client) => client.listWorkers({ orgId }, { timeoutMs: CALL_MS }).catch(noAnswer)),
    );
    const known = replies.filter((reply) => reply !== null);
    if (known.length === 0) throw new ServiceError('unavailable');
    return {
      workers: known.flatMap(({ workers }) => workers).toSorted((a, b) => b.connectedAtMs - a.connectedAtMs),
      count: known.reduce((sum, { count }) => sum + count, 0),
      isComplete: known.length === replies.length,
    };
  }

  stop(): void {
    for (const client of this.clients) client.close();
  }
}

function noAnswer(error: unknown): ListWorkersResponse | null {
  if (error instanceof ServiceError && NO_ANSWER.includes(error.code)) return null;
  throw error;
}
