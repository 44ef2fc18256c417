// ListDeliveries: an organization's deliveries, newest first, a page at a time.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { ListDeliveriesRequest } from '@methods/proto/notifier/v1/notifier_service_pb';
import { listDeliveries } from '../store/list-deliveries.ts';
import { deliveryMessage } from './delivery-message.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

export async function listDeliveriesRpc(reader: OrganizationReader, request: ListDeliveriesRequest) {
  const { orgId, runId, cursor } = request;
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  if (runId !== '' && !isId('run', runId)) throw new ServiceError('not_found');
  if (cursor !== '' && !isId('dlv', cursor))
    throw new ServiceError('invalid_request', 'The cursor is not one of ours.');
  if (request.limit > LIMIT_MAX) throw new ServiceError('invalid_request', `At most ${LIMIT_MAX} deliveries a page.`);
  const limit = request.limit === 0 ? LIMIT_DEFAULT : request.limit;
  // One more than asked shows whether there is another page.
  const found = await listDeliveries(reader, {
    orgId,
    runId: runId === '' ? null : runId,
    limit: limit + 1,
    after: cursor === '' ? null : cursor,
  });
  const page = found.slice(0, limit);
  const nextCursor = found.length > limit ? (page.at(-1)?.deliveryId ?? '') : '';
  return { deliveries: page.map(deliveryMessage), nextCursor };
}
