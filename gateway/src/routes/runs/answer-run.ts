// POST …/runs/:id/answer: answers the question that a run waits on. With wait_ms, replies with the run at its next
// rest.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import type { RunId } from '@methods/base/ids';
import { RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE, tooLarge } from '../../plugins/error-reply.ts';
import { actorOf, channelOf } from '../../plugins/request-actor.ts';
import { runStatusName } from '../../views/run-view.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import { answerFacts, describedRun, type RunSurface, runChanged, runShownAfterWait } from './run-acts.ts';
import { type RunRouteParts, readWaitMs, runIdOf, runJson, waitingCaller, waitRequest } from './run-reply.ts';
import { AnswerQuery, AnswerRunBody, RunParams } from './run-schemas.ts';

const ANSWER_BYTES_MAX = 64 * 1024;
const SEALED_ANSWER_BYTES_MAX = (ANSWER_BYTES_MAX * 4) / 3 + 1_024;

export function addAnswerRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'answerRun', 'Answer the question of a waiting run'),
    params: RunParams,
    querystring: AnswerQuery,
    body: AnswerRunBody,
    response: replies({ 200: Run }),
  };
  scope.withTypeProvider<TypeBoxTypeProvider>().post(
    `${surface.url}/:id/answer`,
    // The run decides: a person whom the question names may be a viewer.
    { schema, config: { access: 'viewer' }, preValidation: readWaitMs },
    async (request, reply) => {
      const { orgId } = callerOf(request);
      const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
      const wait = waitRequest(request.query);
      const { answer, question_id: questionId = '', comment = '' } = request.body;
      const answerJson = checkedAnswer(request, answer);
      const channel = channelOf(request);
      const run = await parts.scheduler.answerRun(
        address,
        { questionId, answerJson, actor: actorOf(request), channel, comment },
        {
          wait,
          caller: waitingCaller(reply),
          answered: (run) => {
            const facts = answerFacts(run, questionId, channel);
            return runChanged(request, parts, 'run.answer', { targetId: run.runId, facts });
          },
        },
      );
      // A waiting caller sees what happened after the answer, which the audit record of the answer does not cover.
      const told = wait === null ? null : runShownAfterWait(reply, parts, run.runId);
      if (told) await told;
      reply.header('content-type', JSON_TYPE);
      return runJson(parts, orgId, run);
    },
  );
}

/** The JSON of an answer. @throws too_large */
export function checkedAnswer({ bodyBytes }: { readonly bodyBytes: number }, answer: unknown): string {
  const json = JSON.stringify(answer);
  // The run decides whether it takes a sealed answer.
  const bytesMax = json.startsWith('{"$sealed":') ? SEALED_ANSWER_BYTES_MAX : ANSWER_BYTES_MAX;
  if (bodyBytes > ANSWER_BYTES_MAX && Buffer.byteLength(json) > bytesMax) {
    throw tooLarge('/answer', 'answer_bytes', `An answer has at most ${ANSWER_BYTES_MAX} bytes, with its defaults.`);
  }
  return json;
}

// POST …/runs/:id/cancel: 200 when the run is cancelled, 202 while its worker has not been notified.
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
