// POST …/runs: starts a run, and with wait_ms waits for it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run, StartedRun } from '@methods/api/run';
import { Sealed } from '@methods/api/value';
import { ServiceError } from '@methods/errors/service-error';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { allSteps } from '../../turns/steps.ts';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { describedRun, PROGRAMS, type RunSurface, runShownAfterWait, runStarted } from './run-acts.ts';
import { type RunRouteParts, readWaitMs, runIdOf, runJson, waitRequest } from './run-reply.ts';
import { RunParams, StartRunBody, WaitQuery } from './run-schemas.ts';
import { type AcceptedStart, type StartContext, startContext, startSteps } from './start-steps.ts';

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
      const told = runShownAfterWait(reply, parts, run.runId);
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

// GET /v1/runs/:id/start: the start of a run in device mode, still sealed. Only a program with its content key can run it
// again, and takes its inputs from here.
const { run_id, method, version_id, answer_by, metadata } = Run.properties;

const SealedStart = Type.Object(
  {
    ...{ run_id, method, version_id, answer_by, metadata },
    content_id: Type.String({ description: 'The inputs are sealed for it. Another start has another one.' }),
    inputs: Sealed,
    webhook_url: Type.Optional(Type.String()),
  },
  { description: 'What a run in device mode was started with.' },
);

export function addSealedStart(scope: FastifyInstance, { scheduler }: Pick<RunRouteParts, 'scheduler'>): void {
  const schema = {
    ...describedRun(PROGRAMS, 'sealedStart', 'Read the sealed start of a run in device mode'),
    description: 'For a program with the content key, to run it again. A run that is not in device mode is a 404.',
    params: RunParams,
    querystring: NoQuery,
    response: replies({ 200: SealedStart }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(`${PROGRAMS.url}/:id/start`, { schema, config: { access: 'member' } }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const runId = runIdOf(request.params);
      const start = await scheduler.startOf({ orgId, runId, requestId: request.id });
      if (start.contentId === '') throw new ServiceError('not_found', 'The run is not in device mode.');
      reply.header('content-type', JSON_TYPE);
      const { method: of, versionId, answerBy, webhookUrl, contentId, inputsJson } = start;
      const facts = {
        ...{ run_id: runId, method: of, version_id: versionId, metadata: start.metadata, content_id: contentId },
        answer_by: answerBy === Answerer.APPLICATION ? 'application' : 'team',
        ...(webhookUrl === '' ? {} : { webhook_url: webhookUrl }),
      };
      // The inputs are JSON already, of a size that is not parsed here.
      return `${JSON.stringify(facts).slice(0, -1)},"inputs":${inputsJson}}`;
    });
}
