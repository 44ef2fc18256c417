// GET /api/first-steps: how far a new organization has got, for the page that leads it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ConnectedWorkers } from '../../clients/connected-workers.ts';
import type { RunScheduler } from '../../clients/run-scheduler.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type AccountRouteParts, described } from './account-schemas.ts';

export interface FirstStepParts extends Pick<AccountRouteParts, 'registryCalls'> {
  readonly workers: Pick<ConnectedWorkers, 'list'>;
  readonly scheduler: Pick<RunScheduler, 'listRuns'>;
}

const FirstSteps = Type.Object({
  method_saved: Type.Boolean(),
  key_made: Type.Boolean(),
  worker_connected: Type.Boolean({ description: 'Now.' }),
  run_finished: Type.Boolean({ description: 'One of the newest 5,000 runs succeeded.' }),
});

export function addFirstSteps(scope: FastifyInstance, { registryCalls, workers, scheduler }: FirstStepParts): void {
  const schema = {
    ...described('firstSteps', 'How far a new organization has got'),
    querystring: NoQuery,
    response: replies({ 200: FirstSteps }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/first-steps', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const finished = { ...ANY_RUN, orgId, status: RunStatus.SUCCEEDED };
      const [{ methods }, { keys }, connected, { runs }] = await Promise.all([
        registryCalls.methods.listMethods({ orgId, limit: 1 }),
        registryCalls.methods.listServiceKeys({ orgId, limit: 1 }),
        workers.list(orgId),
        scheduler.listRuns(finished, request.id),
      ]);
      reply.header('content-type', JSON_TYPE);
      return JSON.stringify({
        method_saved: methods.length > 0,
        key_made: keys.length > 0,
        worker_connected: connected.count > 0,
        run_finished: runs.length > 0,
      });
    });
}

const ANY_RUN = {
  $typeName: 'methods.scheduler.v1.ListRuns' as const,
  ...{
    cursor: '',
    limit: 1,
    method: '' as const,
    versionId: '' as const,
    startedBy: '',
    rerunOf: '' as const,
    text: '',
  },
  ...{ metadata: {}, createdAfterMs: 0, createdBeforeMs: 0, errorLines: false },
};
