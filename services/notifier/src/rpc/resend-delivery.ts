// ResendDelivery: one more try of an ended delivery, with the same id and body.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import type { ResendDeliveryRequest } from '@methods/proto/notifier/v1/notifier_service_pb';
import { getDelivery } from '../store/list-deliveries.ts';
import { resendDelivery } from '../store/resend-delivery.ts';
import { deliveryMessage } from './delivery-message.ts';

export interface ResendDeliveryParts {
  readonly sql: Sql;
  readonly reader: OrganizationReader;
  /** Called when there is something to send. */
  readonly onDue: () => void;
}

/** A delivery that has not ended is on its way and is returned unchanged. */
export async function resendDeliveryRpc({ sql, reader, onDue }: ResendDeliveryParts, request: ResendDeliveryRequest) {
  const { orgId, deliveryId } = request;
  if (!isId('org', orgId) || !isId('dlv', deliveryId)) throw new ServiceError('not_found');
  await resendDelivery(sql, orgId, deliveryId);
  const record = await getDelivery(reader, orgId, deliveryId);
  if (record === null) throw new ServiceError('not_found');
  onDue();
  return { delivery: deliveryMessage(record) };
}
