// /api/endpoints: webhooks and chats that get the events of all runs of the organization. Only admins see and change
// them. A secret is shown once; the URL of a chat, which lets any client write to it, never.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type EndpointId, isId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Endpoint as EndpointMessage } from '@methods/proto/registry/v1/endpoint_service_pb';
import { allowsHost, checkWebhookUrl, type WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { partyView, timeView } from '../../views/party-view.ts';
import { Deleted } from '../files/file-description.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import {
  ChangeEndpointBody,
  CreatedEndpoint,
  CreateEndpointBody,
  EndpointParams,
  Endpoints,
  OneEndpoint,
  RotatedEndpoint,
  RotateEndpointBody,
} from './endpoint-schemas.ts';

export interface EndpointRouteParts {
  readonly registryCalls: Pick<RegistryCalls, 'endpoints'>;
  readonly settings: Pick<OrganizationSettings, 'of'>;
  readonly webhooks: WebhookUrlPolicy;
}

const OVERLAP_MS = 86_400_000;

/** In the scope `api`. */
export function addEndpointRoutes(scope: FastifyInstance, parts: EndpointRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { endpoints } = parts.registryCalls;
  const config = { access: 'admin' } as const;
  const one = { params: EndpointParams, querystring: NoQuery };

  const list = {
    ...described('listEndpoints', 'List endpoints, oldest first'),
    description: 'All on one page: an organization has at most 20.',
    querystring: NoQuery,
    response: replies({ 200: Endpoints }),
  };
  typed.get('/api/endpoints', { schema: list, config }, async (request, reply) => {
    const listed = await endpoints.listEndpoints({ orgId: callerOf(request).orgId });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ items: listed.endpoints.map(endpointView), next_cursor: null });
  });

  const create = {
    ...described('createEndpoint', 'Create an endpoint'),
    description: 'It gets the events of all runs from 30 seconds later at the latest.',
    querystring: NoQuery,
    body: CreateEndpointBody,
    response: replies({ 201: CreatedEndpoint }),
  };
  typed.post('/api/endpoints', { schema: create, config }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { name, format = 'webhook', url, events } = request.body;
    await checkUrl(parts, orgId, url);
    const made = await endpoints.createEndpoint({ orgId, name, format, url, events, doer: doerOf(request) });
    const secret = made.webhookSecret === '' ? {} : { webhook_secret: made.webhookSecret };
    notKept(reply).code(201);
    return JSON.stringify({ endpoint: endpointView(made.endpoint), ...secret });
  });

  const change = {
    ...described('changeEndpoint', 'Change, pause or resume an endpoint'),
    description: 'Fields that are absent stay as they are. Events of the time it was paused are not sent later.',
    ...one,
    body: ChangeEndpointBody,
    response: replies({ 200: OneEndpoint }),
  };
  typed.patch('/api/endpoints/:id', { schema: change, config }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const endpointId = endpointIdOf(request.params);
    const { name, url, events, paused } = request.body;
    if (url !== undefined) await checkUrl(parts, orgId, url);
    const { endpoint } = await endpoints.changeEndpoint({
      orgId,
      endpointId,
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: { events } }),
      ...(paused === undefined ? {} : { paused }),
      doer: doerOf(request),
    });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ endpoint: endpointView(endpoint) });
  });

  const remove = {
    ...described('deleteEndpoint', 'Delete an endpoint'),
    description: 'Its pending deliveries stop at their next try. Its deliveries stay listed.',
    ...one,
    response: replies({ 204: Deleted }),
  };
  typed.delete('/api/endpoints/:id', { schema: remove, config }, async (request, reply) => {
    const { orgId } = callerOf(request);
    await endpoints.deleteEndpoint({ orgId, endpointId: endpointIdOf(request.params), doer: doerOf(request) });
    return reply.code(204).send();
  });

  const rotate = {
    ...described('rotateEndpoint', 'Give an endpoint a new secret'),
    description:
      'Until `earlier_secret_until` each webhook carries a signature of the new and of the earlier secret, so that the ' +
      'receiver can change to the new one at any time. A chat has no secret.',
    ...one,
    body: RotateEndpointBody,
    response: replies({ 200: RotatedEndpoint }),
  };
  typed.post('/api/endpoints/:id/rotate', { schema: rotate, config }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const overlapMs = request.body?.overlap_ms ?? OVERLAP_MS;
    const endpointId = endpointIdOf(request.params);
    const rotated = await endpoints.rotateEndpoint({ orgId, endpointId, overlapMs, doer: doerOf(request) });
    notKept(reply);
    return JSON.stringify({ endpoint: endpointView(rotated.endpoint), webhook_secret: rotated.webhookSecret });
  });
}

function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['notifications'] };
}

/** @throws ServiceError invalid_webhook_url, as at the start of a run. */
async function checkUrl({ settings, webhooks }: EndpointRouteParts, orgId: OrgId, url: string): Promise<void> {
  const check = checkWebhookUrl(url, webhooks);
  if (!check.ok) throw new ServiceError('invalid_webhook_url', check.reason);
  const { webhookHosts } = await settings.of(orgId);
  if (allowsHost(webhookHosts, check.url.hostname)) return;
  throw new ServiceError('invalid_webhook_url', 'The organization does not send webhooks to this host.');
}

/** Marks a reply with a secret, which no cache on its way may keep. */
function notKept(reply: FastifyReply): FastifyReply {
  return reply.header('content-type', JSON_TYPE).header('cache-control', 'no-store');
}

function endpointIdOf({ id }: { readonly id: string }): EndpointId {
  if (!isId('ep', id)) throw new ServiceError('not_found', 'There is no such endpoint.');
  return id;
}

function endpointView(endpoint: EndpointMessage | undefined) {
  if (endpoint === undefined) throw new ServiceError('internal');
  return {
    id: endpoint.endpointId,
    name: endpoint.name,
    format: endpoint.format,
    url: endpoint.shownUrl,
    events: endpoint.events,
    paused: endpoint.paused,
    created_at: timeView(endpoint.createdAtMs),
    created_by: partyView(endpoint.createdBy),
    earlier_secret_until: timeView(endpoint.earlierUntilMs),
  };
}
