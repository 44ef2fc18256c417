// Notifies every process that caches keys, methods, sessions, members or settings of what to drop. Sent after the
// commit and never waited for: caches also forget by age, so a message lost with NATS costs seconds, not correctness.
import type { InjectionToken } from 'tsyringe';

export interface RegistryChanges {
  keyRevoked(key: { readonly orgId: string; readonly keyId: string; readonly authSha256: Buffer }): void;
  methodPublished(method: { readonly orgId: string; readonly methodId: string }): void;
  sessionEnded(session: { readonly orgId: string; readonly userId: string; readonly sessionSha256: Uint8Array }): void;
  /** Another role: cached tokens and sessions of theirs are out of date. */
  memberChanged(member: { readonly orgId: string; readonly userId: string }): void;
  settingsChanged(orgId: string): void;
}
export const RegistryChanges: InjectionToken<RegistryChanges> = Symbol('RegistryChanges');
