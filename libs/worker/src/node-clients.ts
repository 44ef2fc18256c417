// Calls beside the stream: one client for each node that the worker has been at.
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';

export class NodeClients {
  private readonly clients = new Map<string, Client<typeof WorkerService>>();

  constructor(private readonly authorization: string) {}

  at(address: string): Client<typeof WorkerService> {
    const known = this.clients.get(address);
    if (known !== undefined) return known;
    const client = rpcClient(WorkerService, address, { metadata: { authorization: this.authorization } });
    this.clients.set(address, client);
    return client;
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
  }
}
