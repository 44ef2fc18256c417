// ListDeliveries and GetDelivery: an organization's deliveries, newest first, a page at a time, and one of them.
import { ServiceError } from '@methods/errors/service-error';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { GetDeliveryRequest, ListDeliveriesRequest } from '@methods/proto/notifier/v1/notifier_service_pb';
import type { DeliveryRecord } from '../delivery/delivery.ts';
import { getDelivery, listDeliveries } from '../store/list-deliveries.ts';
import { deliveryFilter, deliveryIdOf, organizationOf } from './delivery-filter.ts';
import { deliveryMessage } from './delivery-message.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
/** Of what receivers answered, in one page: a message has 4 MiB, and a page may be shorter than its limit. */
const PAGE_CHARACTERS_MAX = 600_000;

export async function listDeliveriesRpc(reader: OrganizationReader, request: ListDeliveriesRequest) {
  const filter = deliveryFilter(request);
  if (request.limit > LIMIT_MAX) throw new ServiceError('invalid_request', `At most ${LIMIT_MAX} deliveries a page.`);
  const limit = request.limit === 0 ? LIMIT_DEFAULT : request.limit;
  // One more than asked shows whether there is another page.
  const found = await listDeliveries(reader, { ...filter, limit: limit + 1 });
  const page = found.slice(0, Math.min(limit, fitting(found)));
  const nextCursor = found.length > page.length ? (page.at(-1)?.deliveryId ?? '') : '';
  return { deliveries: page.map(deliveryMessage), nextCursor };
}

export async function getDeliveryRpc(reader: OrganizationReader, request: GetDeliveryRequest) {
  const record = await getDelivery(reader, organizationOf(request.orgId), deliveryIdOf(request.deliveryId));
  if (record === null) throw new ServiceError('not_found', 'There is no such delivery.');
  return { delivery: deliveryMessage(record) };
}

/** How many of them fit into a page; at least one. */
function fitting(found: readonly DeliveryRecord[]): number {
  let characters = 0;
  const beyond = found.findIndex(({ url, tries }) => {
    characters += tries.reduce((sum, { answerStart }) => sum + answerStart.length, url.length);
    return characters > PAGE_CHARACTERS_MAX;
  });
  return beyond === -1 ? found.length : Math.max(1, beyond);
}
