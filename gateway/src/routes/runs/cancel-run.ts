// POST …/runs/:id/cancel: 200 when the run is cancelled, 202 while its worker has not been notified.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import type { RunId } from '@methods/base/ids';
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { runStatusName } from '../../views/run-view.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import { runChanged } from './run-acts.ts';
import { type RunRouteParts, runIdOf, runJson } from './run-reply.ts';
import { RunParams } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';

export function addCancelRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'cancelRun', 'Cancel a run'),
    params: RunParams,
    querystring: NoQuery,
    response: replies({
      200: Run,
      202: { ...Run, description: 'Running: cancelled as soon as its worker is notified.' },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(`${surface.url}/:id/cancel`, { schema, config: { access: 'member' } }, async (request, reply) => {
      const runId = runIdOf(request.params);
      refuseFields(request.body, 'A cancel');
      const run = await cancelledRun(request, parts, runId);
      reply.code(run.status === RunStatus.CANCELLED ? 200 : 202).header('content-type', JSON_TYPE);
      return runJson(parts, callerOf(request).orgId, run);
    });
}

/** The run once its cancel is accepted. @throws ServiceError for what refuses it */
export async function cancelledRun(request: FastifyRequest, parts: RunRouteParts, runId: RunId): Promise<RunView> {
  const address = { orgId: callerOf(request).orgId, runId, requestId: request.id };
  const run = await parts.scheduler.cancelRun(address);
  const facts = { status: runStatusName(run.status) };
  const told = runChanged(request, parts, 'run.cancel', { targetId: run.runId, facts });
  if (told) await told;
  return run;
}
