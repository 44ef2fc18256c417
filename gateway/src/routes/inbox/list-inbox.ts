// GET /api/inbox and /api/inbox/counts: the open questions of an organization.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { bareMethodId, productionMethodId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { questionItemView } from '../../views/inbox-view.ts';
import { pageRequest, queryTime, readLimit } from '../page-query.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { addQuestionRoutes } from './change-question.ts';
import { described, type InboxRouteParts, membersFor } from './inbox-parts.ts';
import { InboxCounts, InboxPage, InboxQuery } from './inbox-schemas.ts';

type Query = Static<typeof InboxQuery>;

const ANSWER_BY = { team: Answerer.TEAM, application: Answerer.APPLICATION, all: Answerer.UNSPECIFIED } as const;
const SOON_MS = 24 * 3_600_000;

function addListInbox(scope: FastifyInstance, parts: InboxRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { questions, clock } = parts;

  const list = {
    ...described('listInbox', 'List open questions, newest first'),
    description:
      'True at once: an answered question is in no page that is asked for after its answer. A page with several filters ' +
      'looks at a bounded number of questions: it may hold fewer than `limit`, even none, while `next_cursor` is set.',
    querystring: InboxQuery,
    response: replies({ 200: InboxPage }),
  };
  typed.get(
    '/api/inbox',
    { schema: list, config: { access: 'viewer' }, preValidation: readLimit },
    async (request, reply) => {
      reply.header('content-type', JSON_TYPE);
      return JSON.stringify(await inboxPage(request, parts, request.query));
    },
  );

  const counts = {
    ...described('countInbox', 'Count open questions'),
    description: '`due_soon`: those for the team that are due within 24 hours.',
    querystring: NoQuery,
    response: replies({ 200: InboxCounts }),
  };
  typed.get('/api/inbox/counts', { schema: counts, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const count = async (filter: object) => {
      const counted = await questions.count({ orgId, filter: { answerBy: Answerer.TEAM, ...filter } });
      return { count: counted.count, more: counted.more };
    };
    const [team, mine, unassigned, dueSoon, application] = await Promise.all([
      count({}),
      count({ assignees: mineOf(request) }),
      count({ unassigned: true }),
      count({ dueBeforeMs: clock.wallMs() + SOON_MS }),
      count({ answerBy: Answerer.APPLICATION }),
    ]);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ team, mine, unassigned, due_soon: dueSoon, application });
  });
}

/** A page of open questions. */
export async function inboxPage(request: FastifyRequest, parts: InboxRouteParts, query: Query) {
  const { orgId } = callerOf(request);
  const filter = filterOf(request, query);
  if (filter === null) return { items: [], next_cursor: null };
  const { questions: items, nextCursor } = await parts.questions.list({
    ...{ orgId, filter, reader: actorOf(request) },
    ...pageRequest(query),
  });
  const members = await membersFor(parts, request, items);
  return { items: items.map((item) => questionItemView(item, members)), next_cursor: nextCursor || null };
}

/** Returns null for a filter that no question can match. */
function filterOf(request: FastifyRequest, query: Query) {
  const { mine, unassigned, assignee, method, answer_by: answerBy = 'team' } = query;
  if ([mine, unassigned, assignee].filter((each) => each !== undefined).length > 1) throw oneOfThree();
  const methodId = method === undefined ? '' : bareMethodId(method);
  if (methodId === null) return null;
  return {
    assignees: mine || assignee === 'me' ? mineOf(request) : assignee === undefined ? [] : [assignee.toLowerCase()],
    unassigned: unassigned !== undefined,
    method: methodId === '' ? ('' as const) : productionMethodId(methodId),
    dueBeforeMs: queryTime(query, 'due_before') ?? 0,
    answerBy: ANSWER_BY[answerBy],
  };
}

/** A question assigned to a person has their id; a question that names only one address has the address. */
function mineOf(request: FastifyRequest): string[] {
  const { personId, email } = actorOf(request);
  return email === '' ? [personId] : [personId, email];
}

function oneOfThree(): ServiceError {
  const message = 'Give one of "mine", "unassigned" and "assignee".';
  return new ServiceError('invalid_request', message, { findings: [{ path: '/', code: 'one_of', message }] });
}

// The routes of an organization's questions.

/** For the scope `api`. */
export function addInboxRoutes(scope: FastifyInstance, parts: InboxRouteParts): void {
  addListInbox(scope, parts);
  addQuestionRoutes(scope, parts);
}
