// /api/keys: service keys. A key is created where it will be used, and only its hash is sent here; webhook secrets are
// created here and shown once.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId, type KeyId } from '@methods/base/ids';
import { envelopeShape, OVERHEAD_BYTES, sealedBytes } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
import type { ServiceKey } from '@methods/proto/registry/v1/method_pb';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { partyView, timeView } from '../../views/party-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import {
  type AccountRouteParts,
  CreatedKey,
  CreateKeyBody,
  described,
  GrantContentBody,
  GrantedContent,
  Key,
  KeyParams,
  KeysQuery,
  NewWebhookSecret,
  OneKey,
} from './account-schemas.ts';

const WRAPPED_BYTES_MAX = 1_024;

export function addKeys(scope: FastifyInstance, { registryCalls, registry }: AccountRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { methods } = registryCalls;
  const config = { access: 'admin' } as const;

  const create = {
    ...described('createKey', 'Register a service key'),
    description:
      'After a lost reply the same person may repeat the request: it gets the first key and its webhook secret, with 200.',
    querystring: NoQuery,
    body: CreateKeyBody,
    response: replies({ 200: CreatedKey, 201: CreatedKey }),
  };
  typed.post('/api/keys', { schema: create, config }, async (request, reply) => {
    const { name, auth_sha256: sha256 } = request.body;
    const { orgId } = callerOf(request);
    const authSha256 = Buffer.from(sha256, 'hex');
    const made = await methods.createServiceKey({ orgId, name, authSha256, doer: doerOf(request) });
    notKept(reply).code(made.created ? 201 : 200);
    return JSON.stringify({ key: keyView(made.key), webhook_secret: made.webhookSecret });
  });

  const list = {
    ...described('listKeys', 'List service keys, newest first'),
    description: 'Those that live first, then revoked ones. Without a limit all are on one page, up to 1,000.',
    querystring: KeysQuery,
    response: replies({ 200: pageOf(Key) }),
  };
  typed.get('/api/keys', { schema: list, config, preValidation: readLimit }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { keys, nextCursor } = await methods.listServiceKeys({ orgId, ...pageRequest(request.query) });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ items: keys.map(keyView), next_cursor: nextCursor || null });
  });

  const revoke = {
    ...described('revokeKey', 'Revoke a service key'),
    description: 'From then on it opens nothing; runs started with it continue. A repeat changes nothing.',
    params: KeyParams,
    querystring: NoQuery,
    response: replies({ 200: OneKey }),
  };
  typed.post('/api/keys/:id/revoke', { schema: revoke, config }, async (request, reply) => {
    refuseFields(request.body, 'A revocation');
    const { orgId } = callerOf(request);
    const keyId = keyIdOf(request.params);
    const { key } = await methods.revokeServiceKey({ orgId, keyId, doer: doerOf(request) });
    registry.onRevoked(keyId);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ key: keyView(key) });
  });

  const renew = {
    ...described('renewWebhookSecret', 'Give a key a new webhook secret'),
    description: 'The earlier one no longer signs, at the latest after 30 s.',
    params: KeyParams,
    querystring: NoQuery,
    response: replies({ 200: NewWebhookSecret }),
  };
  typed.post('/api/keys/:id/webhook-secret', { schema: renew, config }, async (request, reply) => {
    refuseFields(request.body, 'A new secret');
    const { orgId } = callerOf(request);
    const keyId = keyIdOf(request.params);
    const { webhookSecret } = await methods.renewWebhookSecret({ orgId, keyId, doer: doerOf(request) });
    notKept(reply);
    return JSON.stringify({ webhook_secret: webhookSecret });
  });

  const grant = {
    ...described('grantContent', 'Grant the content part of another key to a key'),
    description:
      'After a rotation, programs with the new key open the runs that the old one sealed. The content part is wrapped by a program that holds both keys, and opaque here. A repeat replaces the earlier grant.',
    params: KeyParams,
    querystring: NoQuery,
    body: GrantContentBody,
    response: replies({ 200: GrantedContent }),
  };
  typed.post('/api/keys/:id/content-grants', { schema: grant, config }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const keyId = keyIdOf(request.params);
    const fromKeyId = keyIdOf({ id: request.body.from_key_id });
    const wrapped = envelopeOf(request.body.wrapped);
    const fromAuthSha256 = Buffer.from(request.body.from_auth_sha256 ?? '', 'hex');
    await methods.grantContent({ orgId, keyId, fromKeyId, wrapped, fromAuthSha256, doer: doerOf(request) });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ key_id: keyId, from_key_id: fromKeyId });
  });
}

/** `wrapped` is opaque here but for its shape: a key that opens nothing is found at once by the person who grants it. */
function envelopeOf(wrapped: string): Buffer {
  const bytes = sealedBytes({ $sealed: wrapped }, WRAPPED_BYTES_MAX - OVERHEAD_BYTES);
  if (bytes !== null && envelopeShape(bytes, 'grant', WRAPPED_BYTES_MAX - OVERHEAD_BYTES) !== null) return bytes;
  const message = 'Not the wrapped content part of a key.';
  throw new ServiceError('invalid_request', message, {
    findings: [{ path: '/wrapped', code: 'sealed_value_damaged', message }],
  });
}

/** Marks a reply with a secret, which no cache on its way may keep. */
function notKept(reply: FastifyReply): FastifyReply {
  return reply.header('content-type', JSON_TYPE).header('cache-control', 'no-store');
}

function keyIdOf({ id }: { readonly id: string }): KeyId {
  if (!isId('key', id)) throw new ServiceError('not_found', 'There is no such key.');
  return id;
}

function keyView(key: ServiceKey | undefined) {
  if (key === undefined) throw new ServiceError('internal');
  return {
    id: key.keyId,
    name: key.name,
    created_at: timeView(key.createdAtMs),
    created_by: partyView(key.createdBy),
    last_used_at: timeView(key.lastUsedAtMs),
    revoked_at: timeView(key.revokedAtMs),
  };
}
