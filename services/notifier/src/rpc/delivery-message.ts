// A delivery as the wire carries it.
import type { DeliveryRecord, DeliveryTry } from '../delivery/delivery.ts';

export function deliveryMessage(record: DeliveryRecord): DeliveryRecord & { tries: DeliveryTry[] } {
  return { ...record, tries: [...record.tries] };
}
