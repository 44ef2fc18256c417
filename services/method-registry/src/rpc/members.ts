// EnsureUser, GetMember, ListMembers, SetMemberRole and DisableMember: the members of an organization.
import { isId } from '@methods/base/ids';
import type {
  DisableMemberRequest,
  EnsureUserRequest,
  GetMemberRequest,
  ListMembersRequest,
  SetMemberRoleRequest,
} from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { claimedUser, roleOf } from '../account/member.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { pageRequest } from '../page/page.ts';
import { UserStore } from '../store/user-store.ts';
import { memberMessage } from './account-message.ts';
import { doerOf, originOf } from './request-doer.ts';
import { orgIdOf, userIdOf } from './request-ids.ts';

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

  /** Emitted at a repeat too: the first message may have been lost. */
  async setRole(request: SetMemberRoleRequest) {
    const orgId = orgIdOf(request.orgId);
    const userId = userIdOf(request.userId);
    const role = roleOf('role', request.role);
    const member = await this.users.setRole({ orgId, userId, role, doer: doerOf(request.doer) });
    this.changes.memberChanged(member);
    return { member: memberMessage(member) };
  }

  /** Emitted at a repeat too. */
  async disable(request: DisableMemberRequest) {
    const orgId = orgIdOf(request.orgId);
    const userId = userIdOf(request.userId);
    const member = await this.users.disable({ orgId, userId, doer: doerOf(request.doer) });
    this.changes.memberChanged(member);
    return { member: memberMessage(member) };
  }
}
