// Tells every process that caches keys or methods what to drop. Sent after the commit and never waited for: caches
// also forget by age, so a message lost with NATS costs seconds, not correctness.
import type { InjectionToken } from 'tsyringe';

export interface RegistryChanges {
  keyRevoked(key: { readonly orgId: string; readonly keyId: string; readonly authSha256: Buffer }): void;
  methodPublished(method: { readonly orgId: string; readonly methodId: string }): void;
}
export const RegistryChanges: InjectionToken<RegistryChanges> = Symbol('RegistryChanges');
