// Emits RegistryChanged on registry.changed.<org>.
import type { OrgId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { registryChanged } from '@methods/bus/subjects';
import type { Logger } from '@methods/logging/logger';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import type { RegistryChanges } from './registry-changes.ts';

const encode = encoder(RegistryChangedSchema);

type Kind = 'key' | 'method' | 'session' | 'member' | 'settings' | 'endpoint' | 'offer' | 'build';

/** A change that could not be sent is logged and forgotten. */
export function busRegistryChanges(bus: Pick<Bus, 'publish'>, logger: Logger): RegistryChanges {
  function emit(orgId: OrgId, kind: Kind, id: string, sha256?: Uint8Array): void {
    const authSha256 = sha256 === undefined ? '' : Buffer.from(sha256).toString('hex');
    if (bus.publish(registryChanged(orgId), encode({ orgId, kind, id, authSha256 }))) return;
    logger.warn({ org_id: orgId, kind, id }, 'registry change not emitted: NATS is unavailable');
  }
  return {
    keyRevoked: ({ orgId, keyId, authSha256 }) => emit(orgId, 'key', keyId, authSha256),
    methodPublished: ({ orgId, methodId }) => emit(orgId, 'method', methodId),
    sessionEnded: ({ orgId, userId, sessionSha256 }) => emit(orgId, 'session', userId, sessionSha256),
    memberChanged: ({ orgId, userId }) => emit(orgId, 'member', userId),
    offerChanged: ({ orgId, methodId }) => emit(orgId, 'offer', methodId),
    buildEnded: ({ orgId, methodId }) => emit(orgId, 'build', methodId),
    endpointChanged: ({ orgId, endpointId }) => emit(orgId, 'endpoint', endpointId),
    settingsChanged: (orgId) => emit(orgId, 'settings', orgId),
  };
}
