// POST /api/methods/validate: what saving a source would find. Saves nothing.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { findingView } from '../../views/finding-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type MethodRouteParts, utf8 } from './method-parts.ts';
import { ValidateBody, Validation } from './method-schemas.ts';
import { described, type Spelling } from './spelling.ts';

export function addValidateSource(scope: FastifyInstance, parts: MethodRouteParts, spelling: Spelling): void {
  const schema = {
    ...described(spelling, 'validateSource', 'Check a source without saving it'),
    body: ValidateBody,
    querystring: NoQuery,
    response: replies({ 200: Validation }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(
      `/api/${spelling.noun}/validate`,
      { schema, config: { access: 'viewer', source: true } },
      async (request, reply) => {
        const validation = await validatedSource(request, parts, request.body.source);
        reply.header('content-type', JSON_TYPE);
        return JSON.stringify(validation);
      },
    );
}

/** What saving this source would find. */
export async function validatedSource(
  request: FastifyRequest,
  { registryCalls: { methods } }: MethodRouteParts,
  source: string,
) {
  const { ok, findings } = await methods.validateSource({ orgId: callerOf(request).orgId, source: utf8(source) });
  return { ok, diagnostics: findings.map(findingView) };
}
