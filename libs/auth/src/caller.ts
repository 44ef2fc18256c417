// The authenticated caller of a request. (An `Actor` is something else: the owner of a run.)
import type { KeyId, OrgId, UploadId, UserId } from '@methods/base/ids';

export type Caller = ServiceKeyCaller | UserCaller | UploadCaller;

/** A customer's back end or worker. It acts in its key's organization and in no other. */
export interface ServiceKeyCaller {
  readonly kind: 'service_key';
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  /** Absent: none. */
  readonly contentGrants?: readonly ContentGrant[];
}

/** The content part of another key, wrapped for this one. Only the holder of this one opens it. */
export interface ContentGrant {
  /** key_... */
  readonly fromKeyId: string;
  readonly wrapped: Uint8Array;
}

/** A person, by an access token or by the dashboard's cookie. */
export interface UserCaller {
  readonly kind: 'user';
  readonly orgId: OrgId;
  /** usr_... */
  readonly userId: UserId;
  readonly role: Role;
  /** Empty: unknown. */
  readonly name: string;
  /** In lower case, if the issuer verified it; else empty. */
  readonly verifiedEmail: string;
  /** The credential: a token for programs on their computer, one for MCP clients, or the cookie. */
  readonly credential: 'machine_token' | 'mcp_token' | 'session';
}

/** The holder of an upload link: may send that recording and nothing else. */
export interface UploadCaller {
  readonly kind: 'upload';
  readonly orgId: OrgId;
  /** upl_... */
  readonly uploadId: UploadId;
}

/** A user's permissions: each role may do everything that lower ones may. */
export type Role = 'viewer' | 'member' | 'admin';

const ORDER: readonly Role[] = ['viewer', 'member', 'admin'];

export function isRole(text: string): text is Role {
  return (ORDER as readonly string[]).includes(text);
}

export function mayActAs(role: Role, needed: Role): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(needed);
}

/** key_, usr_ or upl_: the caller's one name. */
export function callerId(caller: Caller): string {
  switch (caller.kind) {
    case 'service_key':
      return caller.keyId;
    case 'user':
      return caller.userId;
    case 'upload':
      return caller.uploadId;
  }
}

/**
 * Reports whether a caller may use what needs this role. A service key acts as a member; an upload's token has no role.
 */
export function mayUse(caller: Caller, needed: Role): boolean {
  switch (caller.kind) {
    case 'service_key':
      return mayActAs('member', needed);
    case 'user':
      return mayActAs(caller.role, needed);
    case 'upload':
      return false;
  }
}
