// Notifies every process that caches keys, methods, sessions, members, settings, endpoints or offers of what to drop, and
// people's pages of builds that ended. Sent after the commit and never waited for: caches also forget by age, so a message lost with NATS costs seconds, not correctness.
import type { EndpointId, KeyId, MethodId, OrgId, UserId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';

export interface RegistryChanges {
  keyRevoked(key: { readonly orgId: OrgId; readonly keyId: KeyId; readonly authSha256: Buffer }): void;
  methodPublished(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  sessionEnded(session: { readonly orgId: OrgId; readonly userId: UserId; readonly sessionSha256: Uint8Array }): void;
  /** Another role: cached tokens and sessions of theirs are out of date. */
  memberChanged(member: { readonly orgId: OrgId; readonly userId: UserId }): void;
  settingsChanged(orgId: OrgId): void;
  /** A method became or ceased to be one that agents are offered, or what they see of it changed. */
  offerChanged(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  /** The build of a recording has succeeded or failed. */
  buildEnded(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  endpointChanged(endpoint: { readonly orgId: OrgId; readonly endpointId: EndpointId }): void;
}
export const RegistryChanges: InjectionToken<RegistryChanges> = Symbol('RegistryChanges');
