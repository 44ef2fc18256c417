// The RPCs of deliveries: list an organization's deliveries, newest first, in pages, return one of them, and try ended
// ones once more with the same ids and bodies.

import { type DeliveryId, isId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { OrganizationReader } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import {
  type GetDeliveryRequest,
  type ListDeliveriesRequest,
  NotifierService,
  type ResendDeliveriesRequest,
  type ResendDeliveryRequest,
} from '@methods/proto/notifier/v1/notifier_service_pb';
import { type ServedService, served } from '@methods/rpc/server';
import { DELIVERY_KINDS, DELIVERY_STATUSES, type DeliveryRecord, type DeliveryTry } from '../delivery/delivery.ts';
import { resendDeliveries } from '../store/claim-deliveries.ts';
import {
  type DeliveryFilter,
  getDelivery,
  type ListRequest,
  listDeliveries,
  listDeliveryIds,
} from '../store/list-deliveries.ts';
import { inTime } from './in-time.ts';

interface NotifierServiceParts extends ResendDeliveryParts {
  readonly sendsMail: boolean;
}

export function notifierService(parts: NotifierServiceParts): ServedService {
  return served(NotifierService, {
    listDeliveries: (request) => inTime(listDeliveriesRpc(parts.reader, request)),
    getDelivery: (request) => inTime(getDeliveryRpc(parts.reader, request)),
    resendDelivery: (request) => inTime(resendDeliveryRpc(parts, request)),
    resendDeliveries: (request) => inTime(resendDeliveriesRpc(parts, request)),
    getMailStatus: async () => ({ sendsMail: parts.sendsMail }),
  });
}

// Reads the filter and the place of a list of deliveries from a request.

interface FilterMessage {
  readonly orgId: string;
  readonly runId?: string;
  readonly endpointId: string;
  readonly status: string;
  readonly kind: string;
  readonly cursor: string;
}

/** @throws ServiceError not_found for a malformed id, invalid_request. */
function deliveryFilter(request: FilterMessage): DeliveryFilter & Pick<ListRequest, 'orgId' | 'after'> {
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
function organizationOf(orgId: string): OrgId {
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  return orgId;
}

/** @throws ServiceError not_found. */
function deliveryIdOf(deliveryId: string): DeliveryId {
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

/** A delivery as the wire carries it. */
function deliveryMessage(record: DeliveryRecord): DeliveryRecord & { tries: DeliveryTry[] } {
  return { ...record, tries: [...record.tries] };
}

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
/** For the answers of receivers in one page: a message has 4 MiB, and a page may be shorter than its limit. */
const PAGE_CHARACTERS_MAX = 600_000;

/**
 * ListDeliveries and GetDelivery: an organization's deliveries, newest first, a page at a time, and one of them.
 */
export async function listDeliveriesRpc(reader: OrganizationReader, request: ListDeliveriesRequest) {
  const filter = deliveryFilter(request);
  if (request.limit > LIMIT_MAX) throw new ServiceError('invalid_request', `At most ${LIMIT_MAX} deliveries a page.`);
  const limit = request.limit === 0 ? LIMIT_DEFAULT : request.limit;
  // One more than requested shows whether there is another page.
  const found = await listDeliveries(reader, { ...filter, limit: limit + 1 });
  const page = found.slice(0, Math.min(limit, fitting(found)));
  const nextCursor = found.length > page.length ? (page.at(-1)?.deliveryId ?? '') : '';
  return { deliveries: page.map(deliveryMessage), nextCursor };
}

async function getDeliveryRpc(reader: OrganizationReader, request: GetDeliveryRequest) {
  const record = await getDelivery(reader, organizationOf(request.orgId), deliveryIdOf(request.deliveryId));
  if (record === null) throw new ServiceError('not_found', 'There is no such delivery.');
  return { delivery: deliveryMessage(record) };
}

/** Returns how many of them fit into a page; at least one. */
function fitting(found: readonly DeliveryRecord[]): number {
  let characters = 0;
  const beyond = found.findIndex(({ url, tries }) => {
    characters += tries.reduce((sum, { answerStart }) => sum + answerStart.length, url.length);
    return characters > PAGE_CHARACTERS_MAX;
  });
  return beyond === -1 ? found.length : Math.max(1, beyond);
}

/** ResendDelivery and ResendDeliveries: one more try of ended deliveries, with the same ids and bodies. */
interface ResendDeliveryParts {
  readonly sql: Sql;
  readonly reader: OrganizationReader;
  /** Called when there is something to send. */
  readonly onDue: () => void;
}

/** Deliveries that one call sends again. */
const RESENT_MAX = 200;

/** A delivery that has not ended is still being sent and is returned unchanged. */
async function resendDeliveryRpc({ sql, reader, onDue }: ResendDeliveryParts, request: ResendDeliveryRequest) {
  const orgId = organizationOf(request.orgId);
  const deliveryId = deliveryIdOf(request.deliveryId);
  await resendDeliveries(sql, orgId, [deliveryId]);
  const record = await getDelivery(reader, orgId, deliveryId);
  if (record === null) throw new ServiceError('not_found', 'There is no such delivery.');
  onDue();
  return { delivery: deliveryMessage(record) };
}

/** By ids, of which unknown ones are skipped, or a page of those that a filter finds. */
async function resendDeliveriesRpc(parts: ResendDeliveryParts, request: ResendDeliveriesRequest) {
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
