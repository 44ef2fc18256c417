// POST …/runs/:id/answer: answers the question that a run waits on. With wait_ms, replies with the run at its next
// rest.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE, tooLarge } from '../../plugins/error-reply.ts';
import { actorOf, channelOf } from '../../plugins/request-actor.ts';
import { replies } from '../reply-schemas.ts';
import { answerFacts, runChanged, runShown } from './run-acts.ts';
import { type RunRouteParts, runIdOf, runJson } from './run-reply.ts';
import { AnswerQuery, AnswerRunBody, RunParams } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';
import { readWaitMs, waitingCaller, waitRequest } from './wait-query.ts';

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
      const told = wait === null ? null : runShown(request, parts, run.runId);
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
