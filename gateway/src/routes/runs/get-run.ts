// GET /v1/runs/:id: a run as it is, or as it is when it finishes or begins to wait.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { type RunRouteParts, runIdOf, runJson } from './run-reply.ts';
import { Run, RunParams, replies, WaitQuery } from './run-schemas.ts';
import { readWaitMs, waitingCaller, waitRequest } from './wait-query.ts';

export function addGetRun(scope: FastifyInstance, parts: RunRouteParts): void {
  const { scheduler } = parts;
  const schema = {
    operationId: 'getRun',
    summary: 'Read a run',
    tags: ['runs'],
    params: RunParams,
    querystring: WaitQuery,
    response: replies({ 200: Run }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/v1/runs/:id', { schema, preValidation: readWaitMs }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
      const wait = waitRequest(request.query);
      const run =
        wait === null
          ? await scheduler.getRun(address)
          : await scheduler.waitForRun(address, wait, waitingCaller(reply));
      reply.header('content-type', JSON_TYPE);
      return runJson(parts, orgId, run);
    });
}
