// POST …/runs: starts a run, and with wait_ms waits for it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { StartedRun } from '@methods/api/run';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { allSteps } from '../../turns/steps.ts';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { replies } from '../reply-schemas.ts';
import { runShown, runStarted } from './run-acts.ts';
import { type RunRouteParts, runJson } from './run-reply.ts';
import { StartRunBody, WaitQuery } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';
import { type AcceptedStart, type StartContext, startContext, startSteps } from './start-steps.ts';
import { readWaitMs, waitRequest } from './wait-query.ts';

export function addStartRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'startRun', 'Start a run'),
    body: StartRunBody,
    querystring: WaitQuery,
    response: replies({
      201: StartedRun,
      200: { ...StartedRun, description: 'The same key and values: the same run.' },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(surface.url, { schema, config: { access: 'member' }, preValidation: readWaitMs }, async (request, reply) => {
      const wait = waitRequest(request.query);
      const context = { ...startContext(request, reply), wait };
      const { run, isRepeat } = await startedRun(request, parts, request.body, context);
      reply.code(isRepeat ? 200 : 201).header('content-type', JSON_TYPE);
      if (isRepeat) reply.header('idempotent-replayed', 'true');
      // A run that a worker claimed at once is still reported as queued, which saves another read.
      if (wait === null) return startedRunJson(run, isRepeat ? runStatusName(run.status) : 'queued');
      const told = runShown(request, parts, run.runId);
      if (told) await told;
      return runJson(parts, callerOf(request).orgId, run);
    });
}

/** Returns a started run, or the earlier run of its key. @throws ServiceError if the start is refused */
export async function startedRun(
  request: FastifyRequest,
  parts: RunRouteParts,
  body: Static<typeof StartRunBody>,
  context: StartContext,
): Promise<AcceptedStart> {
  const inSlices = { ...context, longWork: parts.longWork };
  const started = await allSteps(startSteps(parts, body, request.bodyBytes, inSlices));
  const { runId, method, versionId } = started.run;
  const facts = { method, version_id: versionId };
  if (!started.isRepeat) runStarted(request, parts, { targetId: runId, facts });
  return started;
}
