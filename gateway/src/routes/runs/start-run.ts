// POST …/runs: starts a run, and with wait_ms waits for it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { StartedRun } from '@methods/api/run';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { allSteps } from '../../turns/steps.ts';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { replies } from '../reply-schemas.ts';
import { runShown, runStarted } from './run-acts.ts';
import { type RunRouteParts, runJson } from './run-reply.ts';
import { StartRunBody, WaitQuery } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';
import { startContext, startSteps } from './start-steps.ts';
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
      const context = { ...startContext(request, reply), wait, longWork: parts.longWork };
      const { run, isRepeat } = await allSteps(startSteps(parts, request.body, request.bodyBytes, context));
      reply.code(isRepeat ? 200 : 201).header('content-type', JSON_TYPE);
      if (isRepeat) reply.header('idempotent-replayed', 'true');
      const { runId, method, versionId } = run;
      if (!isRepeat) runStarted(request, parts, { targetId: runId, facts: { method, version_id: versionId } });
      // A run that a worker claimed at once is still reported as queued, which saves another read.
      if (wait === null) return startedRunJson(run, isRepeat ? runStatusName(run.status) : 'queued');
      const told = runShown(request, parts, runId);
      if (told) await told;
      return runJson(parts, callerOf(request).orgId, run);
    });
}
