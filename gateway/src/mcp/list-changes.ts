// Notifies the clients of an organization that listen with `subscriptions/listen` that its tools or methods have
// changed. Clients of the earlier era list again without notice.
import type { OrgId } from '@methods/base/ids';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import { InMemoryServerEventBus, type ServerEventBus } from '@modelcontextprotocol/server';
import type { RegistryChangeListener } from '../clients/registry-changes.ts';

export class ListChanges implements RegistryChangeListener {
  private readonly buses = new Map<string, InMemoryServerEventBus>();

  /** Returns the bus to which an organization's listening requests subscribe; it is kept while there are any. */
  busOf(orgId: OrgId): ServerEventBus {
    const { buses } = this;
    return {
      publish: (event) => buses.get(orgId)?.publish(event),
      subscribe(listener) {
        const bus = buses.get(orgId) ?? new InMemoryServerEventBus();
        buses.set(orgId, bus);
        const leave = bus.subscribe(listener);
        return () => {
          leave();
          if (bus.listenerCount === 0 && buses.get(orgId) === bus) buses.delete(orgId);
        };
      },
    };
  }

  /** A person's role decides which tools they see. */
  onChanged({ kind, orgId }: RegistryChanged): void {
    if (kind === 'offer' || kind === 'method' || kind === 'member') this.changed(orgId);
  }

  onEventsMissed(): void {
    for (const orgId of this.buses.keys()) this.changed(orgId);
  }

  private changed(orgId: string): void {
    const bus = this.buses.get(orgId);
    bus?.publish({ kind: 'tools_list_changed' });
    bus?.publish({ kind: 'resources_list_changed' });
  }
}
