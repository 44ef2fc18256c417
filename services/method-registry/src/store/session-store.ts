// The store of sign-ins under way and of dashboard sessions. The value of a cookie never comes here, only its SHA-256.
import type { OrgId, UserId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Member } from '../account/member.ts';
import type { SignIn } from '../account/sign-in.ts';
import type { Doer } from '../audit/doer.ts';

export interface NewSession {
  readonly orgId: OrgId;
  readonly userId: UserId;
  readonly sessionSha256: Uint8Array;
  readonly doer: Doer;
}

export interface SessionStore {
  /** For ten minutes. @throws ServiceError idempotency_conflict when the digest is known. */
  beginSignIn(signInSha256: Uint8Array, signIn: SignIn): Promise<{ readonly expiresAt: Date }>;
  /** Once; null when unknown, expired or taken. */
  takeSignIn(signInSha256: Uint8Array): Promise<SignIn | null>;
  /** For seven days. @throws ServiceError not_found without the user, idempotency_conflict when the digest is known. */
  create(session: NewSession): Promise<{ readonly expiresAt: Date }>;
  /** The member of a session, with the current role; null when unknown, expired or ended. */
  resolve(sessionSha256: Uint8Array): Promise<{ readonly member: Member; readonly expiresAt: Date } | null>;
  /** A second time it changes nothing. Whose it was; null when unknown. */
  end(sessionSha256: Uint8Array, doer: Doer): Promise<{ readonly orgId: OrgId; readonly userId: UserId } | null>;
}
export const SessionStore: InjectionToken<SessionStore> = Symbol('SessionStore');
