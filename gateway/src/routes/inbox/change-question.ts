// GET /api/questions/:id, and what people do with a question: assign it, delegate it, answer it. The run decides who
// may.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import type { QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { actorOf, channelOf } from '../../plugins/request-actor.ts';
import { wholeQuestionJson } from '../../views/inbox-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { checkedAnswer } from '../runs/answer-run.ts';
import { answerFacts, runChanged, runShown } from '../runs/run-acts.ts';
import { runJson } from '../runs/run-reply.ts';
import { described, type InboxRouteParts, membersFor, namedMember, questionIdOf } from './inbox-parts.ts';
import { AnswerQuestionBody, AssignBody, DelegateBody, QuestionParams, WholeQuestion } from './inbox-schemas.ts';

export function addQuestionRoutes(scope: FastifyInstance, parts: InboxRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { questions } = parts;
  // A person whom the question names may be a viewer.
  const config = { access: 'viewer' } as const;
  const common = { params: QuestionParams, querystring: NoQuery };

  const get = {
    ...described('getQuestion', 'Read a question'),
    ...common,
    description: 'Open or closed, with its form, the votes so far and the receipt of its answer.',
    response: replies({ 200: WholeQuestion }),
  };
  typed.get('/api/questions/:id', { schema: get, config }, async (request, reply) => {
    reply.header('content-type', JSON_TYPE);
    return questionShown(parts, request, questionIdOf(request.params));
  });

  const assign = {
    ...described('assignQuestion', 'Give a question to a person, or to no one'),
    ...common,
    description:
      'To one who may answer it. It stays open to all who may. Members, and people who may answer it, do this; a repeat ' +
      'changes nothing.',
    body: AssignBody,
    response: replies({ 200: WholeQuestion }),
  };
  typed.post('/api/questions/:id/assign', { schema: assign, config }, async (request, reply) => {
    const questionId = questionIdOf(request.params);
    const { orgId } = callerOf(request);
    const { assignee: who } = request.body;
    const assignee = who === null ? null : await namedMember(parts, request, 'assignee', who);
    const { runId } = shownRun(
      await questions.assign({ orgId, questionId, by: actorOf(request), ...(assignee && { assignee }) }),
    );
    const facts = { question_id: questionId, assignee: assignee?.personId ?? '' };
    await runChanged(request, parts, 'run.assign', { targetId: runId, facts });
    reply.header('content-type', JSON_TYPE);
    return questionShown(parts, request, questionId);
  });

  const delegate = {
    ...described('delegateQuestion', 'Let another member answer a question'),
    ...common,
    description:
      'They may answer it from then on, also if its rules do not name them, and it is theirs. Not to the starter of a ' +
      'run with `not_starter`, nor back to a person who delegated it. People who may answer it do this.',
    body: DelegateBody,
    response: replies({ 200: WholeQuestion }),
  };
  typed.post('/api/questions/:id/delegate', { schema: delegate, config }, async (request, reply) => {
    const questionId = questionIdOf(request.params);
    const { orgId } = callerOf(request);
    const to = await namedMember(parts, request, 'to', request.body.to);
    const { runId } = shownRun(await questions.delegate({ orgId, questionId, by: actorOf(request), to }));
    const facts = { question_id: questionId, to: to.personId };
    await runChanged(request, parts, 'run.delegate', { targetId: runId, facts });
    reply.header('content-type', JSON_TYPE);
    return questionShown(parts, request, questionId);
  });

  const answer = {
    ...described('answerQuestion', 'Answer a question'),
    ...common,
    description:
      'Replies with the run. Where the question needs several people, the run waits on with their votes until enough ' +
      'of them agree. The same answer of the same person again is a repeat.',
    body: AnswerQuestionBody,
    response: replies({ 200: Run }),
  };
  typed.post('/api/questions/:id/answer', { schema: answer, config }, async (request, reply) => {
    const questionId = questionIdOf(request.params);
    const { orgId } = callerOf(request);
    const { comment = '' } = request.body;
    const answerJson = checkedAnswer(request, request.body.answer);
    const channel = channelOf(request);
    const sender = { actor: actorOf(request), channel, comment };
    const run = shownRun(await questions.answer({ orgId, questionId, answerJson, ...sender }));
    const facts = answerFacts(run, questionId, channel);
    await runChanged(request, parts, 'run.answer', { targetId: run.runId, facts });
    reply.header('content-type', JSON_TYPE);
    return runJson(parts, orgId, run);
  });
}

/** Returns the whole question as JSON, recorded as a view of its run. */
async function questionShown(parts: InboxRouteParts, request: FastifyRequest, questionId: QuestionId): Promise<string> {
  const { orgId } = callerOf(request);
  const found = await parts.questions.get({ orgId, questionId, reader: actorOf(request) });
  const { item } = found;
  if (item === undefined) throw new ServiceError('internal');
  await runShown(request, parts, item.runId);
  return wholeQuestionJson({ ...found, item }, await membersFor(parts, request, [item]));
}

function shownRun({ run }: { readonly run?: RunView | undefined }): RunView {
  if (run === undefined) throw new ServiceError('internal');
  return run;
}
