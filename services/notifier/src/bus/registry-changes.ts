// Receives changes of an organization's settings, endpoints and members over the bus. Without a bus, cached entries
// expire by age.
import type { OrgId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { registryChanges } from '@methods/bus/subjects';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';

export interface RegistryChangeListener {
  onSettingsChanged(orgId: OrgId): void;
  onEndpointsChanged(orgId: OrgId): void;
  /** `id`: the member's id. */
  onMemberChanged(orgId: OrgId, id: string): void;
  /** Changes emitted while the bus was unavailable are lost. */
  onMissed(): void;
}

const decode = decoder(RegistryChangedSchema);

/** Called before the bus starts. */
export function followRegistry(bus: Pick<Bus, 'subscribe' | 'onConnected'>, listener: RegistryChangeListener): void {
  bus.subscribe(registryChanges, (messages) => {
    for (const { data } of messages) {
      const { kind, orgId, id } = decode(Buffer.from(data));
      if (kind === 'settings') listener.onSettingsChanged(orgId);
      if (kind === 'endpoint') listener.onEndpointsChanged(orgId);
      if (kind === 'member') listener.onMemberChanged(orgId, id);
    }
  });
  bus.onConnected(() => listener.onMissed());
}
