// The pages of questions: by an answer link, and for people who have signed in. Each exists if its services do.

import { opaqueTokenSha256 } from '@methods/auth/opaque-token';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SignIn } from '../../callers/sign-in.ts';
import { countedAddress } from '../../callers/surface.ts';
import type { OrganizationTurns } from '../../plugins/organization-turns.ts';
import type { AnswerLinks, AskedQuestion } from './asked-question.ts';
import { addPageFields, addPageReplies, addPageRoutes, holdBody, type PageScopeParts } from './page-scope.ts';
import { addSignedInPage, questionPath, type SignedInPageParts } from './signed-in-page.ts';

interface QuestionPageParts
  extends Omit<SignedInPageParts, 'signInPath'>,
    Omit<AnswerPageParts, 'signInPath' | 'answerLinks'> {
  /** Null: there is no notifier, and so there are no links. */
  readonly answerLinks: AnswerPageParts['answerLinks'] | null;
  /** Null: no issuer is configured. */
  readonly signIn: SignIn | null;
}

export async function addQuestionPages(app: FastifyInstance, parts: QuestionPageParts): Promise<void> {
  const { answerLinks, signIn } = parts;
  addPageFields(app);
  const signInPath = signIn === null ? null : ({ questionId }: AskedQuestion) => questionPath(questionId);
  if (answerLinks !== null) await addAnswerPage(app, { ...parts, answerLinks, signInPath });
  if (signIn !== null) await addSignedInPage(app, { ...parts, signInPath });
}

// GET, HEAD and POST /a/<token>: the page of an answer link. Its address is a secret, which reaches no log, no error
// and no other site. An unknown, incomplete or malformed token gets the same page, after the same look-up.
interface AnswerPageParts extends PageScopeParts {
  readonly answerLinks: AnswerLinks;
  readonly turns: OrganizationTurns;
  /** 0: no limits, also none of unknown links. */
  readonly rateLimitPerKey: number;
}

/** Unknown links from an address: 10 at once, then one every six seconds. */
const UNKNOWN = { perSecond: 10 / 60, burst: 10 };
/** Visits of one link. A person who answers makes three; programs that follow links make a few more. */
const VISITS = { perSecond: 1, burst: 60 };

async function addAnswerPage(app: FastifyInstance, parts: AnswerPageParts): Promise<void> {
  await app.register(async (scope) => {
    addPageReplies(scope, 'no-referrer');
    addOpening(scope, parts);
    addPageRoutes(scope, '/a/*', parts);
  });
}

/** The link is opened before a body is read. */
function addOpening(
  scope: FastifyInstance,
  { answerLinks, clock, turns, largeBodies, rateLimitPerKey }: AnswerPageParts,
): void {
  const unknown = rateLimitPerKey === 0 ? null : new TokenBuckets({ clock, ...UNKNOWN });
  const visits = rateLimitPerKey === 0 ? null : new TokenBuckets({ clock, ...VISITS });
  scope.addHook('onRequest', async (request, reply) => {
    const token = tokenOf(request);
    const opened = await answerLinks.open(token, request.id);
    if (opened === null) throw refusal(unknown, countedAddress(request.ip), 'not_found');
    const over = visits?.take(opaqueTokenSha256(token).toString('base64'));
    if (over?.allowed === false) throw new ServiceError('rate_limited', undefined, { retryAfterMs: over.waitMs });
    holdBody(request, reply, { opened, secret: token }, largeBodies);
    await new Promise<void>((resolve) => turns.take(opened.orgId, resolve));
  });
}

/** An address that sends many gets another reply, so that a program that tries out links slows down. */
function refusal(buckets: TokenBuckets | null, address: string, code: 'not_found'): ServiceError {
  const state = buckets?.take(address);
  if (state?.allowed !== false) return new ServiceError(code);
  return new ServiceError('rate_limited', undefined, { retryAfterMs: state.waitMs });
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { '*'?: string })['*'] ?? '';
}
