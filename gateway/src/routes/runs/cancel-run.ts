// POST /v1/runs/:id/cancel: 200 when the run is cancelled, 202 when its worker has yet to hear of it.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { ServiceError } from '@methods/errors/service-error';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { type RunRouteParts, runIdOf, runJson } from './run-reply.ts';
import { NoQuery, Run, RunParams, replies } from './run-schemas.ts';

export function addCancelRun(scope: FastifyInstance, parts: RunRouteParts): void {
  const schema = {
    operationId: 'cancelRun',
    summary: 'Cancel a run',
    tags: ['runs'],
    params: RunParams,
    querystring: NoQuery,
    response: replies({
      200: Run,
      202: { ...Run, description: 'Running: cancelled as soon as its worker hears of it.' },
    }),
  };
  scope.withTypeProvider<TypeBoxTypeProvider>().post('/v1/runs/:id/cancel', { schema }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
    refuseContent(request.body);
    const run = await parts.scheduler.cancelRun(address);
    reply.code(run.status === RunStatus.CANCELLED ? 200 : 202).header('content-type', JSON_TYPE);
    return runJson(parts, orgId, run);
  });
}

// Nothing or `{}`: many clients cannot send a POST without a body.
function refuseContent(body: unknown): void {
  if (body === undefined || body === null) return;
  if (typeof body === 'object' && Object.keys(body).length === 0) return;
  throw new ServiceError('invalid_request', 'A cancel has no fields.');
}
