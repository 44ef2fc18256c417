// Receives over the bus that an organization's settings have changed. Without a bus, cached settings expire by age.
import type { OrgId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { registryChanges } from '@methods/bus/subjects';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';

export interface SettingsListener {
  onChanged(orgId: OrgId): void;
  /** Changes emitted while the bus was unavailable are lost. */
  onMissed(): void;
}

const decode = decoder(RegistryChangedSchema);

/** Before the bus starts. */
export function followSettings(bus: Pick<Bus, 'subscribe' | 'onConnected'>, listener: SettingsListener): void {
  bus.subscribe(registryChanges, (messages) => {
    for (const { data } of messages) {
      const { kind, orgId } = decode(Buffer.from(data));
      if (kind === 'settings') listener.onChanged(orgId);
    }
  });
  bus.onConnected(() => listener.onMissed());
}
