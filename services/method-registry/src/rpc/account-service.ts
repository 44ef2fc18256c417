// The list of the RPCs about people, and which file answers each.
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import { AuditLog } from './audit-log.ts';
import { ListRecipients } from './list-recipients.ts';
import { Members } from './members.ts';
import { OrganizationSettings } from './organization-settings.ts';
import { Sessions } from './sessions.ts';
import { SignIns } from './sign-ins.ts';

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
