// The routes for people who look into one run: its steps, values and questions.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { questionItemView } from '../../views/inbox-view.ts';
import { InboxItem } from '../inbox/inbox-schemas.ts';
import { PageFields, pageRequest, readLimit } from '../page-query.ts';
import { replies } from '../reply-schemas.ts';
import { runIdOf } from '../runs/run-reply.ts';
import { RunParams } from '../runs/run-schemas.ts';
import { addReadSteps } from './read-steps.ts';
import { addReadValues } from './read-values.ts';
import { described, type RunPartRouteParts } from './run-parts.ts';

/** In the scope `api`. */
export function addRunPartRoutes(scope: FastifyInstance, parts: RunPartRouteParts): void {
  addReadSteps(scope, parts);
  addReadValues(scope, parts);
  addRunQuestions(scope, parts);
}

const QuestionsQuery = Type.Object(PageFields, { additionalProperties: false });
const Questions = Type.Object({
  items: Type.Array(InboxItem),
  next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
});

/** GET /api/runs/:id/questions: every question that the run asked. */
function addRunQuestions(scope: FastifyInstance, { scheduler, reads }: RunPartRouteParts): void {
  const schema = {
    ...described('listRunQuestions', 'List the questions of a run, newest first'),
    description: 'Open and closed ones; /api/questions/{id} has the content and the receipt of one.',
    params: RunParams,
    querystring: QuestionsQuery,
    response: replies({ 200: Questions }),
  };
  const options = { schema, config: { access: 'viewer' }, preValidation: readLimit } as const;
  scope.withTypeProvider<TypeBoxTypeProvider>().get('/api/runs/:id/questions', options, async (request, reply) => {
    const { orgId } = callerOf(request);
    const runId = runIdOf(request.params);
    await scheduler.getRun({ orgId, runId, requestId: request.id });
    const found = await reads.parts.questions({ orgId, runId, ...pageRequest(request.query) });
    reply.header('content-type', JSON_TYPE);
    const items = found.questions.map((item) => questionItemView(item, null));
    return JSON.stringify({ items, next_cursor: found.nextCursor || null });
  });
}
