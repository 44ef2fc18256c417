// A person in an organization, and the claims of a verified token about them.

import { isRole, type Role } from '@methods/auth/caller';
import type { OrgId, UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { boundedText } from '../text/bounded-text.ts';
import { type ExternalOrganization, externalOrganization } from './organization.ts';

export interface Member {
  readonly orgId: OrgId;
  readonly orgName: string;
  readonly userId: UserId;
  /**
   * The role that an admin set, else the one that the issuer claims, else admin for the organization's first user, else
   * member.
   */
  readonly role: Role;
  /** Empty if the issuer gives none. */
  readonly email: string;
  /** Whether the issuer has verified the address. */
  readonly emailVerified: boolean;
  readonly name: string;
  readonly createdAt: Date;
  /** Accurate to a few minutes. */
  readonly lastSeenAt: Date;
  /** When an admin ended their access permanently; null: they have access. */
  readonly disabledAt: Date | null;
}

export interface ClaimedUser {
  readonly organization: ExternalOrganization;
  /** The issuer's id of the person. */
  readonly subject: string;
  /** An empty email, name or role keeps the known one: not every token has all of them. */
  readonly email: string;
  /** Null: the token does not say; a known address keeps its status. */
  readonly emailVerified: boolean | null;
  readonly name: string;
  readonly role: Role | '';
}

export interface UserClaims {
  readonly issuer: string;
  readonly externalOrgId: string;
  readonly orgName: string;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified?: boolean | undefined;
  readonly name: string;
  readonly claimedRole: string;
}

/** @throws ServiceError invalid_request. */
export function claimedUser(claims: UserClaims): ClaimedUser {
  return {
    organization: externalOrganization(claims.issuer, claims.externalOrgId, claims.orgName),
    subject: boundedText('subject', claims.subject, { min: 1, max: 256 }),
    email: boundedText('email', claims.email, { min: 0, max: 320 }),
    emailVerified: claims.emailVerified ?? null,
    name: boundedText('name', claims.name, { min: 0, max: 256 }),
    role: claims.claimedRole === '' ? '' : roleOf('claimed_role', claims.claimedRole),
  };
}

/** @throws ServiceError invalid_request that names `field`. */
export function roleOf(field: string, text: string): Role {
  if (isRole(text)) return text;
  throw new ServiceError('invalid_request', `${field} is viewer, member or admin.`, {
    findings: [{ path: `/${field}`, code: field, message: 'It is not a role.' }],
  });
}
