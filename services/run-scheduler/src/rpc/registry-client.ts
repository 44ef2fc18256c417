// What this service asks of the method registry: who a worker's key is, and the versions workers run.
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { type KeyOwner, WorkerKeys } from '../worker-stream/worker-keys.ts';

const RESOLVE_MS = 3_000;

export class RegistryClient implements Stoppable {
  readonly calls: Client<typeof MethodRegistryService>;
  readonly keys: WorkerKeys;

  constructor(address: string, nowMs: () => number) {
    this.calls = rpcClient(MethodRegistryService, address);
    this.keys = new WorkerKeys({ nowMs, resolve: (hash) => this.resolve(hash) });
  }

  stop(): void {
    this.calls.close();
  }

  private async resolve(authSha256: Uint8Array): Promise<KeyOwner> {
    const { key } = await this.calls.resolveServiceKey({ authSha256 }, { timeoutMs: RESOLVE_MS });
    if (key === undefined) throw new ServiceError('unauthorized');
    return { orgId: key.orgId, keyId: key.keyId };
  }
}
