// /api/deliveries: lists what was sent to webhooks and chats, with every try, and sends it again.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type DeliveryId, type Id, isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Delivery as DeliveryMessage, NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import type { Client } from '@methods/rpc/client';
import type { AuditLog } from '@methods/service/audit-log';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { timeView } from '../../views/party-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import { DeliveriesQuery, Delivery, DeliveryParams, OneDelivery, ResendBody, Resent } from './delivery-schemas.ts';

export interface DeliveryRouteParts {
  /** Null: there is no notifier. */
  readonly deliveries: Client<typeof NotifierService> | null;
  readonly audit: AuditLog;
}

const CALL = { timeoutMs: 6_000 };
const NO_ITEMS = { items: [], next_cursor: null };

/** For the scope `api`. */
export function addDeliveryRoutes(scope: FastifyInstance, parts: DeliveryRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const notifier = () => {
    if (parts.deliveries !== null) return parts.deliveries;
    throw new ServiceError('unavailable', 'This server sends no webhooks: it has no notifier.');
  };

  const list = {
    ...described('listDeliveries', 'List deliveries, newest first'),
    querystring: DeliveriesQuery,
    response: replies({ 200: pageOf(Delivery) }),
  };
  const listing = { schema: list, config: { access: 'viewer' }, preValidation: readLimit } as const;
  typed.get('/api/deliveries', listing, async (request, reply) => {
    const { status = '', kind = '', endpoint: endpointId = '', run: runId = '' } = request.query;
    reply.header('content-type', JSON_TYPE);
    if (!isFilter('ep', endpointId) || !isFilter('run', runId)) return JSON.stringify(NO_ITEMS);
    const asked = { orgId: callerOf(request).orgId, status, kind, endpointId, runId, ...pageRequest(request.query) };
    const { deliveries, nextCursor } = await notifier().listDeliveries(asked, CALL);
    return JSON.stringify({ items: deliveries.map(deliveryView), next_cursor: nextCursor || null });
  });

  const get = {
    ...described('getDelivery', 'Read a delivery with its tries'),
    params: DeliveryParams,
    querystring: NoQuery,
    response: replies({ 200: OneDelivery }),
  };
  typed.get('/api/deliveries/:id', { schema: get, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { delivery } = await notifier().getDelivery({ orgId, deliveryId: deliveryIdOf(request.params) }, CALL);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ delivery: deliveryView(delivery) });
  });

  const resend = {
    ...described('resendDelivery', 'Send a delivery again'),
    description: 'One more try with the same id and body. A pending delivery is on its way and stays as it is.',
    params: DeliveryParams,
    querystring: NoQuery,
    response: replies({ 200: OneDelivery }),
  };
  typed.post('/api/deliveries/:id/resend', { schema: resend, config: { access: 'member' } }, async (request, reply) => {
    refuseFields(request.body, 'Sending again');
    const { orgId } = callerOf(request);
    const deliveryId = deliveryIdOf(request.params);
    const { delivery } = await notifier().resendDelivery({ orgId, deliveryId }, CALL);
    await recordResend(parts, request, deliveryId, 1);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ delivery: deliveryView(delivery) });
  });

  const resendMany = {
    ...described('resendDeliveries', 'Send many deliveries again'),
    description:
      'Either by `ids`, of which unknown and pending ones are passed over, or the newest 200 of a `status`, also of one ' +
      'endpoint or kind; another call with `next_cursor` continues.',
    querystring: NoQuery,
    body: ResendBody,
    response: replies({ 200: Resent }),
  };
  typed.post('/api/deliveries/resend', { schema: resendMany, config: { access: 'member' } }, async (request, reply) => {
    const { ids, status = '', kind = '', endpoint: endpointId = '', cursor = '' } = request.body;
    if (ids !== undefined && [status, kind, endpointId, cursor].some((text) => text !== ''))
      throw new ServiceError('invalid_request', 'With ids there is no other field.');
    // An id of another kind names no delivery, like an unknown one.
    const deliveryIds = (ids ?? []).filter((id) => isId('dlv', id));
    const { orgId } = callerOf(request);
    const isNone = !isFilter('ep', endpointId) || (ids !== undefined && deliveryIds.length === 0);
    const resent = isNone
      ? { deliveryIds: [], nextCursor: '' }
      : await notifier().resendDeliveries({ orgId, deliveryIds, status, kind, endpointId, cursor }, CALL);
    const [first] = resent.deliveryIds;
    if (first !== undefined) await recordResend(parts, request, first, resent.deliveryIds.length);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ ids: resent.deliveryIds, next_cursor: resent.nextCursor || null });
  });
}

function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['notifications'] };
}

/** Records one line for each request; of many deliveries it names the first. */
async function recordResend(
  { audit }: DeliveryRouteParts,
  request: FastifyRequest,
  targetId: DeliveryId,
  count: number,
): Promise<void> {
  const { orgId } = callerOf(request);
  const facts = { deliveries: String(count) };
  await audit.afterDoing({ orgId, doer: doerOf(request), action: 'delivery.resend', targetId, facts });
}

/** For a filter, empty means all. A malformed id finds nothing, like an unknown one. */
function isFilter<Prefix extends 'ep' | 'run'>(prefix: Prefix, text: string): text is Id<Prefix> | '' {
  return text === '' || isId(prefix, text);
}

function deliveryIdOf({ id }: { readonly id: string }): DeliveryId {
  if (!isId('dlv', id)) throw new ServiceError('not_found', 'There is no such delivery.');
  return id;
}

function deliveryView(delivery: DeliveryMessage | undefined) {
  if (delivery === undefined) throw new ServiceError('internal');
  const { endpointId, url, tries } = delivery;
  return {
    id: delivery.deliveryId,
    run_id: delivery.runId,
    seq: delivery.seq,
    event: delivery.event,
    kind: delivery.kind,
    ...(endpointId === '' ? {} : { endpoint_id: endpointId }),
    ...(delivery.kind === 'webhook' || delivery.kind === 'mail' ? { url: withoutQuery(url) } : {}),
    status: delivery.status,
    created_at: timeView(delivery.createdAtMs),
    next_try_at: timeView(delivery.nextTryAtMs),
    tries_count: delivery.triesCount,
    tries: tries.map(({ startedAtMs, durationMs, httpStatus, error, answerStart }) => ({
      at: timeView(startedAtMs),
      duration_ms: durationMs,
      status: httpStatus === 0 ? null : httpStatus,
      error: error === '' ? null : error,
      reply: answerStart,
    })),
  };
}

/** Removes the query, since applications put tokens there. */
function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : `${url.slice(0, end)}?…`;
}
