// Reads the filter and the place of a list of deliveries from a request.
import { type DeliveryId, isId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { DELIVERY_KINDS, DELIVERY_STATUSES } from '../delivery/delivery.ts';
import type { DeliveryFilter, ListRequest } from '../store/list-deliveries.ts';

interface FilterMessage {
  readonly orgId: string;
  readonly runId?: string;
  readonly endpointId: string;
  readonly status: string;
  readonly kind: string;
  readonly cursor: string;
}

/** @throws ServiceError not_found for a malformed id, invalid_request. */
export function deliveryFilter(request: FilterMessage): DeliveryFilter & Pick<ListRequest, 'orgId' | 'after'> {
  const { runId = '', endpointId, cursor } = request;
  if (runId !== '' && !isId('run', runId)) throw new ServiceError('not_found');
  if (endpointId !== '' && !isId('ep', endpointId)) throw new ServiceError('not_found');
  if (cursor !== '' && !isId('dlv', cursor)) throw refused('cursor', 'The cursor is not one of ours.');
  return {
    orgId: organizationOf(request.orgId),
    runId: runId === '' ? null : runId,
    endpointId: endpointId === '' ? null : endpointId,
    status: oneOf('status', DELIVERY_STATUSES, request.status),
    kind: oneOf('kind', DELIVERY_KINDS, request.kind),
    after: cursor === '' ? null : cursor,
  };
}

/** @throws ServiceError not_found. */
export function organizationOf(orgId: string): OrgId {
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  return orgId;
}

/** @throws ServiceError not_found. */
export function deliveryIdOf(deliveryId: string): DeliveryId {
  if (!isId('dlv', deliveryId)) throw new ServiceError('not_found', 'There is no such delivery.');
  return deliveryId;
}

function oneOf<Value extends string>(field: string, values: readonly Value[], text: string): Value | null {
  if (text === '') return null;
  const value = values.find((known) => known === text);
  if (value === undefined) throw refused(field, `${field} is ${values.join(', ')}.`);
  return value;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: field, message }] });
}
