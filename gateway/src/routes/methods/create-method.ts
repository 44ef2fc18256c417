// POST /api/methods: a method of a source, an agent prompt, both, or a finished upload; once for each key.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-doer.ts';
import { findingView } from '../../views/finding-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { keyHash, type MethodRouteParts, sentMethod, utf8 } from './method-parts.ts';
import { CreatedMethod, CreateMethodBody } from './method-schemas.ts';
import { described, type Spelling, spelled, spelledShape } from './spelling.ts';

export function addCreateMethod(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const { methods } = parts.registryCalls;
  const created = spelledShape(CreatedMethod, spelling);
  const schema = {
    ...described(spelling, 'createMethod', 'Create a method'),
    body: CreateMethodBody,
    querystring: NoQuery,
    response: replies({
      201: created,
      200: {
        ...created,
        description: 'The key is known: returns the method it created. The other fields are ignored.',
      },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(`/api/${spelling.noun}`, { schema, config: { access: 'member', source: true } }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const { body } = request;
      const idempotencyHash = keyHash(body.idempotency_key);
      const refusal = contentRefusal(body);
      const made =
        refusal === null
          ? await methods.createMethod({
              orgId,
              idempotencyHash,
              displayName: body.display_name ?? '',
              source: utf8(body.source ?? ''),
              agentPrompt: body.agent_prompt ?? '',
              uploadId: body.upload_id ?? '',
              doer: doerOf(request),
            })
          : await earlierOr(refusal, orgId, idempotencyHash);
      reply.code(made.created ? 201 : 200).header('content-type', JSON_TYPE);
      const fields = { method: sentMethod(made.method), created: made.created };
      return JSON.stringify(spelled({ ...fields, warnings: made.warnings.map(findingView) }, spelling));
    });

  // A key that has made a method gets it, even if the request would be refused today.
  async function earlierOr(refusal: ServiceError, orgId: OrgId, idempotencyHash: Buffer) {
    const { method } = await methods.findCreation({ orgId, idempotencyHash });
    if (method === undefined) throw refusal;
    return { method, created: false, warnings: [] };
  }
}

function contentRefusal({ source, agent_prompt, upload_id }: Static<typeof CreateMethodBody>): ServiceError | null {
  const hasContent = source !== undefined || agent_prompt !== undefined;
  if (hasContent !== (upload_id !== undefined)) return null;
  const message = hasContent
    ? '"upload_id" goes with neither "source" nor "agent_prompt".'
    : 'One of "source", "agent_prompt" and "upload_id" is needed.';
  return new ServiceError('invalid_request', message, {
    findings: [{ path: hasContent ? '/upload_id' : '', code: 'one_of', message }],
  });
}
