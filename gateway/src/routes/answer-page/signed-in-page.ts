// GET, HEAD and POST /questions/:id: the page of a question for a person who has signed in. Without a session it
// redirects to the sign-in and back. A post must come from a page of this server.
import { fastifyCookie } from '@fastify/cookie';
import { isId, type QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { AnswerChannel } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '@methods/service/audit-log';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { browserSessions, hasOwnOrigin, shownTokens } from '../../callers/browser-sessions.ts';
import { CallerRefused } from '../../callers/caller-refused.ts';
import type { Accounts, Member } from '../../clients/accounts.ts';
import type { OrganizationMembers } from '../../clients/organization-members.ts';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { addOrganizationTurns, type OrganizationTurns } from '../../plugins/organization-turns.ts';
import { addRateLimit, type RateLimit } from '../../plugins/rate-limit.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { answerFacts, runChanged, runShown } from '../runs/run-acts.ts';
import { noMember, type OpenedQuestion } from './asked-question.ts';
import { afterAnswer, readQuestion } from './asked-questions.ts';
import { addPageReplies, addPageRoutes, holdBody, type PageScopeParts } from './page-scope.ts';

export interface SignedInPageParts extends PageScopeParts, SignedInParts {
  readonly accounts: Pick<Accounts, 'sessionMember'>;
  readonly turns: OrganizationTurns;
  readonly limit: RateLimit;
  readonly publicUrl: string | null;
}

/** The path of a question's page. */
export function questionPath(questionId: string): string {
  return `/questions/${questionId}`;
}

export async function addSignedInPage(app: FastifyInstance, parts: SignedInPageParts): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(fastifyCookie);
    // Browsers send the origin of the posting page only to its own server.
    addPageReplies(scope, 'same-origin');
    // Runs first: an invalid question id gets the same reply for every visitor.
    scope.addHook('onRequest', (request, _reply, done) => {
      done(isId('q', questionIdOf(request)) ? undefined : new ServiceError('not_found'));
    });
    addSession(scope, parts);
    addRateLimit(scope, parts.limit);
    addOrganizationTurns(scope, parts.turns);
    scope.addHook('onRequest', async (request, reply) => {
      const opened = await openSignedIn(parts, request, questionIdOf(request) as QuestionId);
      holdBody(request, reply, { opened, secret: shownTokens(request).join(' ') }, parts.largeBodies);
    });
    addPageRoutes(scope, questionPath(':id'), parts);
  });
}

function addSession(scope: FastifyInstance, parts: SignedInPageParts): void {
  const { accounts, publicUrl } = parts;
  scope.addHook('onRequest', async (request, reply) => {
    const sessions = await browserSessions(accounts, request);
    const member = await memberOf(
      parts,
      sessions.map((each) => each.member),
      questionIdOf(request) as QuestionId,
    );
    const isUnsafe = request.method === 'POST';
    if (member === undefined) {
      if (isUnsafe) throw new CallerRefused('unknown_session');
      return reply.redirect(`/auth/login?return_to=${questionPath(questionIdOf(request))}`, 302);
    }
    if (isUnsafe && !hasOwnOrigin(request, publicUrl)) {
      throw new CallerRefused('foreign_origin', 'An answer has to come from a page of this server.');
    }
    request.caller = { kind: 'user', ...member, credential: 'session' };
  });
}

/** Of the organizations that the browser is signed in to, the one that has the question; undefined: of none. */
async function memberOf(
  { questions }: SignedInPageParts,
  members: readonly Member[],
  questionId: QuestionId,
): Promise<Member | undefined> {
  for (const member of members.slice(0, -1)) {
    const { orgId } = member;
    const isThere = await questions.get({ orgId, questionId }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === 'not_found') return false;
        throw error;
      },
    );
    if (isThere) return member;
  }
  return members.at(-1);
}

function questionIdOf(request: FastifyRequest): string {
  return (request.params as { id?: string }).id ?? '';
}

// A question as a signed-in person opens it: the run decides whether they may answer, and their acts are recorded like
// those of the API.

interface SignedInParts {
  readonly questions: Pick<QuestionCalls, 'get' | 'answer' | 'delegate'>;
  readonly members: Pick<OrganizationMembers, 'find'>;
  readonly registryCalls: Pick<RegistryCalls, 'accounts'>;
  readonly audit: AuditLog;
}

/** @throws ServiceError not_found for a question that the organization does not have */
async function openSignedIn(
  parts: SignedInParts,
  request: FastifyRequest,
  questionId: QuestionId,
): Promise<OpenedQuestion> {
  const { questions, members } = parts;
  const { orgId } = callerOf(request);
  const named = { orgId, questionId };
  const actor = actorOf(request);
  const read = async () => (await readQuestion(parts, named, actor)) ?? missing();
  const question = await read();
  await runShown(request, parts, question.runId);
  const changed = { targetId: question.runId };
  return {
    orgId,
    visitor: { name: actor.name || actor.email, linkRecipient: null, state: 'open' },
    question,
    async answer({ answerJson, comment }) {
      const channel = AnswerChannel.INBOX;
      const { run } = await questions.answer({ ...named, answerJson, comment, actor, channel });
      const facts = run === undefined ? { question_id: questionId } : answerFacts(run, questionId, channel);
      await runChanged(request, parts, 'run.answer', { ...changed, facts });
      return afterAnswer(question, run, read);
    },
    async delegate(address) {
      const to = (await members.find(orgId, address)) ?? noMember();
      await questions.delegate({ ...named, by: actor, to });
      const facts = { question_id: questionId, to: to.personId };
      await runChanged(request, parts, 'run.delegate', { ...changed, facts });
      return to.name || to.email;
    },
    again: read,
  };
}

function missing(): never {
  throw new ServiceError('not_found');
}
