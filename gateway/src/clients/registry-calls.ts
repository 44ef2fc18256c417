// Calls to the method registry whose replies are not cached: the objects that people and programs read and change
// through the API. Calls with cached replies are in clients/method-registry.ts.
import type { Caller } from '@methods/auth/caller';
import type { Stoppable } from '@methods/base/stoppable';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import type { AuditLine } from '@methods/service/audit-log';

const RECORD_AUDIT_MS = 3_000;

/** The caller of a request as the registry records it with a change: the fields of `methods.registry.v1.Doer`. */
export interface RequestDoer {
  /** `system`: there is no caller with a credential. */
  readonly kind: Caller['kind'] | 'system';
  /** usr_, key_ or upl_; for system the name of the part. */
  readonly id: string;
  readonly ip: string;
  readonly requestId: string;
  /** Name and version of the MCP client that the doer uses; absent: none. */
  readonly client?: string;
}

export class RegistryCalls implements Stoppable {
  readonly accounts: Client<typeof AccountService>;
  readonly endpoints: Client<typeof EndpointService>;
  readonly methods: Client<typeof MethodRegistryService>;
  readonly uploads: Client<typeof UploadService>;
  readonly runRecords: Client<typeof RunRecordService>;

  /** `host:port` of the method registry. */
  constructor(address: string) {
    this.accounts = rpcClient(AccountService, address);
    this.endpoints = rpcClient(EndpointService, address);
    this.methods = rpcClient(MethodRegistryService, address);
    this.uploads = rpcClient(UploadService, address);
    this.runRecords = rpcClient(RunRecordService, address);
  }

  /** Records all lines or none; a repeat is harmless. */
  async recordAudit(lines: readonly AuditLine[]): Promise<void> {
    await this.accounts.recordAudit({ entries: [...lines] }, { timeoutMs: RECORD_AUDIT_MS });
  }

  stop(): void {
    this.accounts.close();
    this.endpoints.close();
    this.methods.close();
    this.uploads.close();
    this.runRecords.close();
  }
}
