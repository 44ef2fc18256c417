// The list of the RPCs about people and the file that answers each, and an organization's settings.
import type {
  AccountService,
  ChangeSettingsRequest,
  GetSettingsRequest,
} from '@methods/proto/registry/v1/account_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { settingsChange } from '../account/organization.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { SettingsStore } from '../store/organization-store.ts';
import { AuditLog } from './audit-log.ts';
import { ListRecipients, Members } from './members.ts';
import { settingsMessage } from './registry-message.ts';
import { doerOf, orgIdOf } from './request-fields.ts';
import { Sessions, SignIns } from './sessions.ts';

/** GetSettings and ChangeSettings: an organization's settings for its runs and webhooks. */
@injectable()
class OrganizationSettings {
  constructor(
    @inject(SettingsStore) private readonly settings: SettingsStore,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  async get(request: GetSettingsRequest) {
    return { settings: settingsMessage(await this.settings.get(orgIdOf(request.orgId))) };
  }

  /** Emitted for a repeat too, since the first message may have been lost. */
  async change(request: ChangeSettingsRequest) {
    const orgId = orgIdOf(request.orgId);
    const doer = doerOf(request.doer);
    const change = settingsChange({
      contentOnDevices: request.contentOnDevices ?? null,
      retentionDays: request.retentionDays ?? null,
      webhookHosts: request.webhookHosts?.hosts ?? null,
      timeZone: request.timeZone ?? null,
    });
    const settings = await this.settings.change(orgId, change, doer);
    this.changes.settingsChanged(orgId);
    return { settings: settingsMessage(settings) };
  }
}

@injectable()
export class AccountRpcs {
  constructor(
    @inject(Members) private readonly members: Members,
    @inject(SignIns) private readonly signIns: SignIns,
    @inject(Sessions) private readonly sessions: Sessions,
    @inject(OrganizationSettings) private readonly settings: OrganizationSettings,
    @inject(AuditLog) private readonly auditLog: AuditLog,
    @inject(ListRecipients) private readonly listRecipients: ListRecipients,
  ) {}

  handlers(): ServiceImplementation<typeof AccountService> {
    return {
      ensureUser: (request) => this.members.ensure(request),
      beginSignIn: (request) => this.signIns.begin(request),
      takeSignIn: (request) => this.signIns.take(request),
      createSession: (request) => this.sessions.create(request),
      resolveSession: (request) => this.sessions.resolve(request),
      endSession: (request) => this.sessions.end(request),
      getMember: (request) => this.members.get(request),
      listMembers: (request) => this.members.list(request),
      setMemberRole: (request) => this.members.setRole(request),
      disableMember: (request) => this.members.disable(request),
      listRecipients: (request) => this.listRecipients.handle(request),
      getSettings: (request) => this.settings.get(request),
      changeSettings: (request) => this.settings.change(request),
      recordAudit: (request) => this.auditLog.record(request),
      listAudit: (request) => this.auditLog.list(request),
    };
  }
}
