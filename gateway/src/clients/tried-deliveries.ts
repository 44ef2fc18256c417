// Tries of deliveries of the organizations followed here, as notifiers report them over the bus.
import type { OrgId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { deliveryTried } from '@methods/bus/subjects';
import { DeliveriesTriedSchema, type TriedDelivery } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';

const decode = decoder(DeliveriesTriedSchema);

export class TriedDeliveries {
  constructor(private readonly bus: Pick<Bus, 'subscribe'>) {}

  /** Returns a function that ends it. */
  follow(orgId: OrgId, tried: (deliveries: readonly TriedDelivery[]) => void): () => void {
    const subscription = this.bus.subscribe(deliveryTried(orgId), (messages) => {
      for (const { data } of messages) tried(decode(Buffer.from(data)).deliveries);
    });
    return () => subscription.unsubscribe();
  }
}
