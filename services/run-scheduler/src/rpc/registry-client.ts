// What this service asks of the method registry: who a worker's key is, the versions workers run, and how long an
// organization keeps its runs.
import type { Clock } from '@methods/base/clock';
import { RetentionDays } from '@methods/base/retention-days';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { type KeyOwner, WorkerKeys } from '../worker-stream/worker-keys.ts';

const RESOLVE_MS = 3_000;
const SETTINGS_MS = 3_000;

export class RegistryClient implements Stoppable {
  readonly calls: Client<typeof MethodRegistryService>;
  readonly keys: WorkerKeys;
  readonly retention: RetentionDays;
  private readonly accounts: Client<typeof AccountService>;

  constructor(address: string, clock: Clock) {
    this.calls = rpcClient(MethodRegistryService, address);
    this.accounts = rpcClient(AccountService, address);
    this.keys = new WorkerKeys({ nowMs: () => clock.monotonicMs(), resolve: (hash) => this.resolve(hash) });
    this.retention = new RetentionDays({ clock, ask: (orgId) => this.retentionDays(orgId) });
  }

  stop(): void {
    this.calls.close();
    this.accounts.close();
  }

  private async retentionDays(orgId: string): Promise<number | null> {
    try {
      const { settings } = await this.accounts.getSettings({ orgId }, { timeoutMs: SETTINGS_MS });
      return settings?.retentionDays ?? null;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
  }

  private async resolve(authSha256: Uint8Array): Promise<KeyOwner> {
    const { key } = await this.calls.resolveServiceKey({ authSha256 }, { timeoutMs: RESOLVE_MS });
    if (key === undefined) throw new ServiceError('unauthorized');
    return { orgId: key.orgId, keyId: key.keyId };
  }
}
