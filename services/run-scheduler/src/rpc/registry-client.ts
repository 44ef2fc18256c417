// This service's calls to the method registry: the owner of a worker's key, the versions that workers run, how long an
// organization keeps its runs, and which events its endpoints take.
import { isRole } from '@methods/auth/caller';
import { Issuer } from '@methods/auth/issuer';
import type { Clock } from '@methods/base/clock';
import type { OrgId, ProductionId } from '@methods/base/ids';
import { RetentionDays } from '@methods/base/retention-days';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { EndpointService } from '@methods/proto/registry/v1/endpoint_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { askSettings } from '@methods/rpc/ask-settings';
import { type Client, isUnknownCall, rpcClient } from '@methods/rpc/client';
import type { AuditLine } from '@methods/service/audit-log';
import { EndpointEvents } from '../bus/endpoint-events.ts';
import type { PeopleConfig } from '../config.ts';
import type { SavedVersion } from '../worker-stream/question-forms.ts';
import { KnownMethods } from '../worker-stream/worker-admission.ts';
import { type KeyOwner, WorkerKeys } from '../worker-stream/worker-keys.ts';
import { WorkerPeople } from '../worker-stream/worker-people.ts';

const RESOLVE_MS = 3_000;
const SETTINGS_MS = 3_000;
const VERSION_MS = 5_000;
const RECORD_AUDIT_MS = 3_000;

export class RegistryClient implements Stoppable {
  readonly calls: Client<typeof MethodRegistryService>;
  readonly keys: WorkerKeys;
  readonly methods: KnownMethods;
  readonly retention: RetentionDays;
  readonly endpointEvents: EndpointEvents;
  private readonly accounts: Client<typeof AccountService>;
  private readonly endpoints: Client<typeof EndpointService>;

  /** `people`: whose tokens open streams of workers; null: only keys do. */
  constructor(address: string, clock: Clock, people: PeopleConfig | null = null) {
    this.calls = rpcClient(MethodRegistryService, address);
    this.accounts = rpcClient(AccountService, address);
    this.endpoints = rpcClient(EndpointService, address);
    this.endpointEvents = new EndpointEvents({ clock, ask: (orgId) => this.eventsTaken(orgId) });
    this.keys = new WorkerKeys({
      nowMs: () => clock.monotonicMs(),
      resolve: (hash) => this.resolve(hash),
      people: people === null ? null : this.peopleOf(people, clock),
    });
    this.methods = new KnownMethods({ find: (orgId, methods) => this.findMethods(orgId, methods) });
    const retentionDays = async (orgId: OrgId) =>
      (await askSettings(this.accounts, orgId, SETTINGS_MS))?.retentionDays ?? null;
    this.retention = new RetentionDays({ clock, ask: retentionDays });
  }

  stop(): void {
    this.calls.close();
    this.accounts.close();
    this.endpoints.close();
  }

  /** @throws ServiceError not_found if the organization has no such version. */
  async savedVersion(orgId: OrgId, method: ProductionId, version: string): Promise<SavedVersion> {
    const found = await this.calls.getVersion({ orgId, methodId: method, version }, { timeoutMs: VERSION_MS });
    if (found.version === undefined) throw new ServiceError('not_found');
    return found.version;
  }

  async recordAudit(entries: readonly AuditLine[]): Promise<void> {
    await this.accounts.recordAudit({ entries: [...entries] }, { timeoutMs: RECORD_AUDIT_MS });
  }

  /** Returns none for a missing organization, and none with a registry of the previous release. */
  private async eventsTaken(orgId: OrgId): Promise<readonly string[]> {
    try {
      return (await this.endpoints.getEndpointEvents({ orgId }, { timeoutMs: SETTINGS_MS })).events;
    } catch (error) {
      if (error instanceof ServiceError && (error.code === 'not_found' || isUnknownCall(error))) return [];
      throw error;
    }
  }

  private async resolve(authSha256: Uint8Array): Promise<KeyOwner> {
    const found = await this.calls.resolveServiceKey({ authSha256 }, { timeoutMs: RESOLVE_MS });
    const { key } = found;
    // Plain objects: they are sent on in messages of other services.
    const contentGrants = found.contentGrants.map(({ fromKeyId, wrapped }) => ({ fromKeyId, wrapped }));
    if (key === undefined) throw new ServiceError('unauthorized');
    return { orgId: key.orgId, keyId: key.keyId, ...(contentGrants.length > 0 && { contentGrants }) };
  }

  private peopleOf({ machineAudience, ...people }: PeopleConfig, clock: Clock): WorkerPeople {
    const issuer = new Issuer(people.issuer, clock);
    return new WorkerPeople({
      rules: { ...people, issuer, clock, audiences: [machineAudience] },
      memberOf: async (identity) => {
        const request = { issuer: people.issuer, ...identity, ip: '', requestId: '' };
        const { member } = await this.accounts.ensureUser(request, { timeoutMs: RESOLVE_MS });
        if (member === undefined || !isRole(member.role)) throw new ServiceError('internal');
        return { orgId: member.orgId, userId: member.userId, role: member.role };
      },
    });
  }

  private async findMethods(orgId: OrgId, methods: readonly ProductionId[]): Promise<readonly string[]> {
    const { methodIds } = await this.calls.findMethods({ orgId, methodIds: [...methods] }, { timeoutMs: RESOLVE_MS });
    return methodIds;
  }
}
