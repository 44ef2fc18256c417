// GET, HEAD and POST /a/<token>: the page of an answer link. Its address is a secret: it reaches no log, no error and no
// other site. A token that is unknown, cut off or malformed gets one and the same page, after the same look-up.
import { parse as parseForm } from 'node:querystring';
import { opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { errorBody } from '@methods/errors/error-body';
import { overShare } from '@methods/errors/over-share';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from '../../callers/client-address.ts';
import { countedAddress } from '../../callers/counted-address.ts';
import { serviceErrorOf } from '../../plugins/error-reply.ts';
import { BODY_BYTES_MAX } from '../../plugins/json-body.ts';
import { LARGE_BODY_BYTES, type LargeBodies } from '../../plugins/large-bodies.ts';
import type { OrganizationTurns } from '../../plugins/organization-turns.ts';
import type { AnswerLinks, OpenedLink } from './answer-links.ts';
import type { AskedQuestion } from './asked-question.ts';
import { plainPage } from './end-pages.ts';
import { type PageContent, writePage } from './page-frame.ts';
import { type PageVisit, postedPage, shownPage } from './page-visit.ts';

export interface AnswerPageParts {
  readonly answerLinks: AnswerLinks;
  readonly clock: Clock;
  readonly turns: OrganizationTurns;
  readonly largeBodies: LargeBodies;
  /** 0: no limits, also none of unknown links. */
  readonly rateLimitPerKey: number;
  /** Null: there is no sign-in. */
  readonly signInPath: ((question: AskedQuestion) => string) | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    openedLink: OpenedLink | null;
  }
}

/** Unknown links of an address: 10 at once, then one every six seconds. */
const UNKNOWN = { perSecond: 10 / 60, burst: 10 };
/** Visits of one link; a person who answers makes three, programs that follow links some more. */
const VISITS = { perSecond: 1, burst: 60 };
/** Of a posted page: one more than a form is read to, so that reading says so. */
const PAIRS_MAX = 5_100;
const URL = '/a/*';

type Posted = readonly (readonly [string, string])[];

export async function addAnswerPage(app: FastifyInstance, parts: AnswerPageParts): Promise<void> {
  const { clock, largeBodies } = parts;
  app.decorateRequest('openedLink', null);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser<Buffer>(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX },
      async (request: FastifyRequest, body: Buffer) => {
        if (body.length <= LARGE_BODY_BYTES) return pairsOf(body);
        return largeBodies.parse(request.openedLink?.orgId ?? '', body.length, () => pairsOf(body));
      },
    );
    addPageHeaders(scope);
    addOpening(scope, parts);
    scope.setErrorHandler((error: FastifyError, request, reply) => replyWithError(error, request, reply));

    const config = { schema: { hide: true } };
    scope.route<{ Querystring: { show?: string } }>({
      method: ['GET', 'HEAD'],
      url: URL,
      ...config,
      handler: async (request, reply) => {
        const visit = visitOf(request, parts, clock.wallMs());
        return send(reply, visit === null ? GONE : shownPage(visit, request.query.show));
      },
    });
    scope.post(URL, config, async (request, reply) => {
      const visit = visitOf(request, parts, clock.wallMs());
      return send(reply, visit === null ? GONE : await postedPage(visit, (request.body as Posted | undefined) ?? []));
    });
  });
}

function addPageHeaders(scope: FastifyInstance): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    reply.header('referrer-policy', 'no-referrer');
    reply.header('x-robots-tag', 'noindex');
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    done();
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
    const link = await answerLinks.open(token, request.id);
    if (link === null) throw refusal(unknown, countedAddress(request.ip), 'not_found');
    const over = visits?.take(opaqueTokenSha256(token).toString('base64'));
    if (over?.allowed === false) throw new ServiceError('rate_limited', undefined, { retryAfterMs: over.waitMs });
    request.openedLink = link;
    const bytes = bodyBytes(request);
    if (bytes > LARGE_BODY_BYTES && bytes <= BODY_BYTES_MAX) {
      const place = largeBodies.bytes.take(link.orgId, '', bytes);
      if (!place.ok) throw overShare('bytes of request bodies', place);
      reply.raw.once('close', place.leave);
    }
    await new Promise<void>((resolve) => turns.take(link.orgId, resolve));
  });
}

function bodyBytes({ headers }: FastifyRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_BYTES_MAX;
}

/** An address that shows many gets another answer: a program that tries out links slows down. */
function refusal(buckets: TokenBuckets | null, address: string, code: 'not_found'): ServiceError {
  const state = buckets?.take(address);
  if (state?.allowed !== false) return new ServiceError(code);
  return new ServiceError('rate_limited', undefined, { retryAfterMs: state.waitMs });
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { '*'?: string })['*'] ?? '';
}

function visitOf(request: FastifyRequest, { signInPath }: AnswerPageParts, nowMs: number): PageVisit | null {
  const link = request.openedLink;
  if (link === null || link.question === null) return null;
  const { question, visitor } = link;
  return {
    question,
    visitor,
    secret: tokenOf(request),
    signInPath: signInPath === null ? null : signInPath(question),
    nowMs,
    answer: (sent) => link.answer(sent, { ip: clientAddress(request), requestId: request.id }),
    again: () => link.again(),
  };
}

const GONE = plainPage(
  410,
  'This question is no longer kept',
  'Its run has ended, and was deleted after the time your organization chose.',
);

function pairsOf(body: Buffer): Posted {
  const values = parseForm(body.toString('utf8'), '&', '=', { maxKeys: PAIRS_MAX });
  return Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((text) => [name, text] as const),
  );
}

function send(reply: FastifyReply, content: PageContent): FastifyReply {
  const { text, policy } = writePage(content);
  return reply
    .code(content.status)
    .header('content-security-policy', policy)
    .type('text/html; charset=utf-8')
    .send(text);
}

function replyWithError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = serviceErrorOf(error, { bytesMax: BODY_BYTES_MAX });
  // The server's own handler logs what the page does not show.
  if (known.code === 'internal') throw error;
  request.errorCode = known.code;
  const { status, headers } = errorBody(known, request.id);
  const { heading, text } = WORDS[known.code] ?? { heading: 'This did not work', text: known.message };
  return send(reply.headers(headers), plainPage(status, heading, text));
}

const WORDS: Readonly<Partial<Record<ServiceError['code'], { heading: string; text: string }>>> = {
  not_found: {
    heading: 'There is no such link',
    text: 'Copy the whole link from the message, or ask for another one.',
  },
  rate_limited: { heading: 'Too many requests', text: 'Wait for a minute, then open the link again.' },
  unavailable: { heading: 'Not reachable just now', text: 'A part of the service is down for a moment. Try again.' },
  too_large: { heading: 'Your answer is too large', text: 'A page has at most 1 MiB. Go back and shorten it.' },
};
