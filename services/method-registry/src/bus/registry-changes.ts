// Notifies every process that caches keys, methods, sessions, members, settings, endpoints or offers of what to drop,
// and people's pages of builds that ended. Sent after the commit without waiting: caches also expire by age, so a
// message lost with NATS costs seconds, not correctness.
import type { EndpointId, KeyId, MethodId, OrgId, UserId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { registryChanged } from '@methods/bus/subjects';
import type { Logger } from '@methods/logging/logger';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import type { InjectionToken } from 'tsyringe';

export interface RegistryChanges {
  /** Created, revoked, or granted the content part of another key. */
  keyChanged(key: { readonly orgId: OrgId; readonly keyId: KeyId; readonly authSha256: Buffer }): void;
  methodPublished(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  /** For pages only: no cache has it yet. */
  methodCreated(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  sessionEnded(session: { readonly orgId: OrgId; readonly userId: UserId; readonly sessionSha256: Uint8Array }): void;
  /** The role changed: cached tokens and sessions of the member are out of date. */
  memberChanged(member: { readonly orgId: OrgId; readonly userId: UserId }): void;
  settingsChanged(orgId: OrgId): void;
  /** An offer to agents began or ended, or what agents see of the method changed. */
  offerChanged(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  /** The build of a recording has succeeded or failed. */
  buildEnded(method: { readonly orgId: OrgId; readonly methodId: MethodId }): void;
  endpointChanged(endpoint: { readonly orgId: OrgId; readonly endpointId: EndpointId }): void;
}
export const RegistryChanges: InjectionToken<RegistryChanges> = Symbol('RegistryChanges');

// Emits RegistryChanged on registry.changed.<org>.

const encode = encoder(RegistryChangedSchema);

type Kind = 'key' | 'method' | 'created' | 'session' | 'member' | 'settings' | 'endpoint' | 'offer' | 'build';

/** A change that could not be sent is only logged. */
export function busRegistryChanges(bus: Pick<Bus, 'publish'>, logger: Logger): RegistryChanges {
  function emit(orgId: OrgId, kind: Kind, id: string, sha256?: Uint8Array): void {
    const authSha256 = sha256 === undefined ? '' : Buffer.from(sha256).toString('hex');
    if (bus.publish(registryChanged(orgId), encode({ orgId, kind, id, authSha256 }))) return;
    logger.warn({ org_id: orgId, kind, id }, 'registry change not emitted: NATS is unavailable');
  }
  return {
    keyChanged: ({ orgId, keyId, authSha256 }) => emit(orgId, 'key', keyId, authSha256),
    methodPublished: ({ orgId, methodId }) => emit(orgId, 'method', methodId),
    methodCreated: ({ orgId, methodId }) => emit(orgId, 'created', methodId),
    sessionEnded: ({ orgId, userId, sessionSha256 }) => emit(orgId, 'session', userId, sessionSha256),
    memberChanged: ({ orgId, userId }) => emit(orgId, 'member', userId),
    offerChanged: ({ orgId, methodId }) => emit(orgId, 'offer', methodId),
    buildEnded: ({ orgId, methodId }) => emit(orgId, 'build', methodId),
    endpointChanged: ({ orgId, endpointId }) => emit(orgId, 'endpoint', endpointId),
    settingsChanged: (orgId) => emit(orgId, 'settings', orgId),
  };
}
