// GET /v1/whoami: what a program knows before it starts its first run: its organization, its key, whether plain content
// is refused, and the content parts of other keys that were granted to its key.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { NoQuery, replies } from '../reply-schemas.ts';

const KeyWhoami = Type.Object({
  org_id: Type.String(),
  key_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The service key of the request; null for a person, who starts no runs in device mode.',
  }),
  content_on_devices: Type.Boolean({ description: 'Plain content is refused: every run starts in device mode.' }),
  content_grants: Type.Array(
    Type.Object({
      from_key_id: Type.String(),
      wrapped: Type.String({ description: 'base64url; opens with the content part of the key of the request.' }),
    }),
    { description: 'The content parts of other keys, wrapped for this one.' },
  ),
});

/** For the scope `service`. */
export function addKeyWhoami(scope: FastifyInstance, { settings }: { readonly settings: OrganizationSettings }): void {
  const schema = {
    operationId: 'whoamiAsProgram',
    summary: 'Who asks',
    tags: ['runs'],
    querystring: NoQuery,
    response: replies({ 200: KeyWhoami }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/v1/whoami', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const caller = callerOf(request);
      const { contentOnDevices } = await settings.of(caller.orgId);
      const grants = caller.kind === 'service_key' ? (caller.contentGrants ?? []) : [];
      reply.header('content-type', JSON_TYPE).header('cache-control', 'private, no-cache');
      return JSON.stringify({
        org_id: caller.orgId,
        key_id: caller.kind === 'service_key' ? caller.keyId : null,
        content_on_devices: contentOnDevices,
        content_grants: grants.map(({ fromKeyId, wrapped }) => {
          return { from_key_id: fromKeyId, wrapped: Buffer.from(wrapped).toString('base64url') };
        }),
      });
    });
}
