// The store of people.

import type { Role } from '@methods/auth/caller';
import type { OrgId, UserId } from '@methods/base/ids';
import type { CountedMember } from '@methods/method/needed-people';
import type { InjectionToken } from 'tsyringe';
import type { ClaimedUser, Member } from '../account/member.ts';
import type { Doer } from '../audit/doer.ts';
import type { Page, PageRequest } from '../page/page.ts';

/** Where a request came from. */
export type Origin = Pick<Doer, 'ip' | 'requestId'>;

export interface UserStore {
  /**
   * The user of (issuer, organization, subject), both made when there are none, brought up to what the issuer says now.
   * `roleChanged`: the role that others have cached is out of date. @throws ServiceError forbidden for a disabled one.
   */
  ensure(user: ClaimedUser, origin: Origin): Promise<{ readonly member: Member; readonly roleChanged: boolean }>;
  /** @throws ServiceError not_found */
  find(orgId: OrgId, userId: UserId): Promise<Member>;
  /** Newest first. */
  list(orgId: OrgId, page: PageRequest): Promise<Page<Member>>;
  /** All who have access, in no order; null: the organization has more people than `most`. */
  allOf(orgId: OrgId, most: number): Promise<readonly CountedMember[] | null>;
  /**
   * Wins over any role the issuer claims from then on. @throws ServiceError not_found; invalid_request with the finding
   * `last_admin` when no one else is an admin.
   */
  setRole(change: { orgId: OrgId; userId: UserId; role: Role; doer: Doer }): Promise<Member>;
  /**
   * Ends their access for good; a repeat changes nothing. @throws ServiceError not_found; invalid_request with the
   * finding `last_admin` when no one else is an admin.
   */
  disable(member: { orgId: OrgId; userId: UserId; doer: Doer }): Promise<Member>;
}
export const UserStore: InjectionToken<UserStore> = Symbol('UserStore');
