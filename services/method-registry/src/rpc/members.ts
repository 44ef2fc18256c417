// EnsureUser, GetMember, ListMembers, SetMemberRole, DisableMember and ListRecipients: the members of an organization.
import { isId, type MethodId, type OrgId, type UserId } from '@methods/base/ids';
import type {
  DisableMemberRequest,
  EnsureUserRequest,
  GetMemberRequest,
  ListMembersRequest,
  ListRecipientsRequest,
  SetMemberRoleRequest,
} from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { claimedUser, roleOf } from '../account/member.ts';
import { named, RECIPIENTS_MAX } from '../account/recipients.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { pageRequest } from '../page/page.ts';
import { RecipientStore } from '../store/recipient-store.ts';
import { UserStore } from '../store/user-store.ts';
import { memberMessage } from './registry-message.ts';
import { doerOf, methodIdOf, orgIdOf, originOf, userIdOf } from './request-fields.ts';

@injectable()
export class Members {
  constructor(
    @inject(UserStore) private readonly users: UserStore,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  async ensure(request: EnsureUserRequest) {
    const { member, roleChanged } = await this.users.ensure(claimedUser(request), originOf(request));
    if (roleChanged) this.changes.memberChanged(member);
    return { member: memberMessage(member) };
  }

  async get(request: GetMemberRequest) {
    const member = await this.users.find(orgIdOf(request.orgId), userIdOf(request.userId));
    return { member: memberMessage(member) };
  }

  async list(request: ListMembersRequest) {
    const page = pageRequest(request, (id) => isId('usr', id));
    const { items, nextCursor } = await this.users.list(orgIdOf(request.orgId), page);
    return { members: items.map(memberMessage), nextCursor };
  }

  /** Emitted for a repeat too, since the first message may have been lost. */
  async setRole(request: SetMemberRoleRequest) {
    const orgId = orgIdOf(request.orgId);
    const userId = userIdOf(request.userId);
    const role = roleOf('role', request.role);
    const member = await this.users.setRole({ orgId, userId, role, doer: doerOf(request.doer) });
    this.changes.memberChanged(member);
    return { member: memberMessage(member) };
  }

  /** Emitted for a repeat too. */
  async disable(request: DisableMemberRequest) {
    const orgId = orgIdOf(request.orgId);
    const userId = userIdOf(request.userId);
    const member = await this.users.disable({ orgId, userId, doer: doerOf(request.doer) });
    this.changes.memberChanged(member);
    return { member: memberMessage(member) };
  }
}

/**
 * ListRecipients: returns who gets an e-mail about a question: the people that the question names; else the person who
 * last published its method; else, if they have no address or may not answer, the admins.
 */
@injectable()
export class ListRecipients {
  constructor(@inject(RecipientStore) private readonly store: RecipientStore) {}

  async handle(request: ListRecipientsRequest) {
    const orgId = orgIdOf(request.orgId);
    const methodId = methodIdOf(request.methodId);
    const people = named(request.to);
    const facts = await this.store.facts(orgId, methodId);
    const exceptUserId = request.exceptUserId as UserId | '';
    const found =
      request.to.length > 0
        ? await this.store.named(orgId, people, RECIPIENTS_MAX, exceptUserId)
        : await this.publisherOrAdmins(orgId, methodId, exceptUserId);
    const recipients = found.slice(0, RECIPIENTS_MAX).map((each) => ({ ...each }));
    return { ...facts, recipients, more: found.length > RECIPIENTS_MAX };
  }

  private async publisherOrAdmins(orgId: OrgId, methodId: MethodId, exceptUserId: UserId | '') {
    const publisher = await this.store.publisher(orgId, methodId);
    if (publisher !== null && publisher.userId !== exceptUserId) return [publisher];
    return this.store.admins(orgId, RECIPIENTS_MAX, exceptUserId);
  }
}
