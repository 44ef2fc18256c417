// Receives changes of the registry over the bus and drops the caches' entries. Without a bus, entries expire by age.
import type { Bus } from '@methods/bus/connection';
import { registryChanges } from '@methods/bus/subjects';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import { RegistryChangedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';

export interface RegistryChangeListener {
  onChanged(change: RegistryChanged): void;
  onEventsMissed(): void;
}

const decode = decoder(RegistryChangedSchema);

/** Called before the bus starts. Events are lost while it is unavailable, so each connect counts as missed events. */
export function followRegistryChanges(
  bus: Pick<Bus, 'subscribe' | 'onConnected'>,
  ...listeners: RegistryChangeListener[]
): void {
  bus.subscribe(registryChanges, (messages) => {
    for (const { data } of messages) {
      const change = decode(Buffer.from(data));
      for (const listener of listeners) listener.onChanged(change);
    }
  });
  bus.onConnected(() => {
    for (const listener of listeners) listener.onEventsMissed();
  });
}
