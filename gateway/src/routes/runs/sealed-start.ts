// GET /v1/runs/:id/start: the start of a run in device mode, still sealed. Only a program with its content key can run it
// again, and takes its inputs from here.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import { Sealed } from '@methods/api/value';
import { ServiceError } from '@methods/errors/service-error';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type RunRouteParts, runIdOf } from './run-reply.ts';
import { RunParams } from './run-schemas.ts';
import { describedRun, PROGRAMS } from './run-surface.ts';

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
