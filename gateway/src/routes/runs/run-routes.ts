// The run routes in the order of a run's life, the same for programs and for people.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import { ServiceError } from '@methods/errors/service-error';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import type { WaitRequest } from '../../clients/run-waiters.ts';
import type { RunAddress } from '../../clients/watched-runs.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { localRunJson } from '../../views/run-view.ts';
import { replies } from '../reply-schemas.ts';
import { addAnswerRun, addCancelRun } from './answer-run.ts';
import { addListRuns, LocalRun } from './list-runs.ts';
import { addRerunRun } from './rerun-run.ts';
import { describedRun, type RunSurface, runShownAfterWait } from './run-acts.ts';
import { addRunEvents } from './run-events.ts';
import { addRunFiles } from './run-files.ts';
import { type RunRouteParts, readWaitMs, runIdOf, runJson, waitingCaller, waitRequest } from './run-reply.ts';
import { RunParams, UserRunQuery, WaitQuery } from './run-schemas.ts';
import { addStartBatch } from './start-batch.ts';
import { addSealedStart, addStartRun } from './start-run.ts';
import { UserRun, userRunJson } from './user-run.ts';

/** Within a scope whose routes have callers. */
export function addRunRoutes(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  addStartRun(scope, parts, surface);
  addStartBatch(scope, parts, surface);
  addListRuns(scope, parts, surface);
  addGetRun(scope, parts, surface);
  addAnswerRun(scope, parts, surface);
  addCancelRun(scope, parts, surface);
  addRerunRun(scope, parts, surface);
  addRunEvents(scope, parts, surface);
  addRunFiles(scope, parts, surface);
  if (!surface.people) addSealedStart(scope, parts);
}

// GET …/runs/:id: returns a run at once, or when it finishes or begins to wait. For people, also the record of a local
// run.

function addGetRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const { scheduler } = parts;
  const schema = {
    ...describedRun(surface, 'getRun', 'Read a run'),
    params: RunParams,
    querystring: surface.people ? UserRunQuery : WaitQuery,
    response: replies({ 200: surface.people ? Type.Union([UserRun, LocalRun]) : Run }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(
      `${surface.url}/:id`,
      { schema, config: { access: 'viewer' }, preValidation: readWaitMs },
      async (request, reply) => {
        const { orgId } = callerOf(request);
        const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
        const found = await readRun(address, waitRequest(request.query), reply);
        const told = runShownAfterWait(reply, parts, address.runId);
        if (told) await told;
        reply.header('content-type', JSON_TYPE);
        if (typeof found === 'string') return found;
        if (!surface.people) return runJson(parts, orgId, found);
        return userRunJson(parts, address, found, (request.query as Static<typeof UserRunQuery>).steps === 'false');
      },
    );

  async function readRun(
    address: RunAddress,
    wait: WaitRequest | null,
    reply: FastifyReply,
  ): Promise<RunView | string> {
    try {
      return wait === null
        ? await scheduler.getRun(address)
        : await scheduler.waitForRun(address, wait, waitingCaller(reply));
    } catch (error) {
      if (!surface.people || !(error instanceof ServiceError) || error.code !== 'not_found') throw error;
      return localRun(address);
    }
  }

  async function localRun({ orgId, runId }: RunAddress): Promise<string> {
    const { record } = await parts.registryCalls.runRecords.getRunRecord({ orgId, runId });
    if (record === undefined) throw new ServiceError('not_found');
    return localRunJson(record);
  }
}
