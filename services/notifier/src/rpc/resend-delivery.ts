// ResendDelivery and ResendDeliveries: one more try of ended deliveries, with the same ids and bodies.
import { ServiceError } from '@methods/errors/service-error';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import type { ResendDeliveriesRequest, ResendDeliveryRequest } from '@methods/proto/notifier/v1/notifier_service_pb';
import { getDelivery, listDeliveryIds } from '../store/list-deliveries.ts';
import { resendDeliveries } from '../store/resend-delivery.ts';
import { deliveryFilter, deliveryIdOf, organizationOf } from './delivery-filter.ts';
import { deliveryMessage } from './delivery-message.ts';

export interface ResendDeliveryParts {
  readonly sql: Sql;
  readonly reader: OrganizationReader;
  /** Called when there is something to send. */
  readonly onDue: () => void;
}

/** Sent again by one call. */
const RESENT_MAX = 200;

/** A delivery that has not ended is on its way and is returned unchanged. */
export async function resendDeliveryRpc({ sql, reader, onDue }: ResendDeliveryParts, request: ResendDeliveryRequest) {
  const orgId = organizationOf(request.orgId);
  const deliveryId = deliveryIdOf(request.deliveryId);
  await resendDeliveries(sql, orgId, [deliveryId]);
  const record = await getDelivery(reader, orgId, deliveryId);
  if (record === null) throw new ServiceError('not_found', 'There is no such delivery.');
  onDue();
  return { delivery: deliveryMessage(record) };
}

/** By ids, of which unknown ones are passed over, or a page of those that a filter finds. */
export async function resendDeliveriesRpc(parts: ResendDeliveryParts, request: ResendDeliveriesRequest) {
  const filter = deliveryFilter(request);
  const { orgId, status } = filter;
  const byId = request.deliveryIds.length > 0;
  if (byId === (status !== null)) throw new ServiceError('invalid_request', 'Either ids or a status is needed.');
  if (status === 'pending') throw new ServiceError('invalid_request', 'Pending deliveries are on their way.');
  if (request.deliveryIds.length > RESENT_MAX) {
    throw new ServiceError('invalid_request', `At most ${RESENT_MAX} deliveries in one call.`);
  }
  const found = byId
    ? request.deliveryIds.map(deliveryIdOf)
    : await listDeliveryIds(parts.reader, { ...filter, limit: RESENT_MAX + 1 });
  const chosen = found.slice(0, RESENT_MAX);
  const deliveryIds = await resendDeliveries(parts.sql, orgId, chosen);
  if (deliveryIds.length > 0) parts.onDue();
  return { deliveryIds: [...deliveryIds], nextCursor: found.length > RESENT_MAX ? (chosen.at(-1) ?? '') : '' };
}
