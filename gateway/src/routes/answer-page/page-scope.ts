// The routes of a question's page at one address: its headers, the posted form, its visits, and its errors as pages.
import { parse as parseForm } from 'node:querystring';
import type { Clock } from '@methods/base/clock';
import { errorBody } from '@methods/errors/error-body';
import { overShare, type ServiceError } from '@methods/errors/service-error';
import { CONTROLS_MAX } from '@methods/form/posted-controls';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerRefused } from '../../callers/caller-refused.ts';
import { clientAddress } from '../../callers/surface.ts';
import { serviceErrorOf } from '../../plugins/error-reply.ts';
import { BODY_BYTES_MAX } from '../../plugins/json-body.ts';
import { LARGE_BODY_BYTES, type LargeBodies } from '../../plugins/large-bodies.ts';
import type { AskedQuestion, OpenedQuestion } from './asked-question.ts';
import { plainPage } from './end-pages.ts';
import { type PageContent, writePage } from './page-frame.ts';
import { type PageVisit, postedPage, shownPage } from './page-visit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    openedPage: OpenedPage | null;
  }
}

export interface OpenedPage {
  readonly opened: OpenedQuestion;
  /** Known only to this visitor. */
  readonly secret: string;
}

export interface PageScopeParts {
  readonly clock: Clock;
  readonly largeBodies: LargeBodies;
  /** Null: there is no sign-in. */
  readonly signInPath: ((question: AskedQuestion) => string) | null;
}

/** Of a posted page: one more than a form may have, so that reading detects it. */
const PAIRS_MAX = CONTROLS_MAX + 100;

type Posted = readonly (readonly [string, string])[];

/** Called before any page is added. */
export function addPageFields(app: FastifyInstance): void {
  app.decorateRequest('openedPage', null);
}

/** Called before the hooks that open the page: their errors are pages too. */
export function addPageReplies(scope: FastifyInstance, referrerPolicy: 'no-referrer' | 'same-origin'): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    reply.header('referrer-policy', referrerPolicy);
    reply.header('x-robots-tag', 'noindex');
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    done();
  });
  scope.setErrorHandler((error: FastifyError, request, reply) => replyWithError(error, request, reply));
}

/** A large body takes a place before it is read. */
export function holdBody(
  request: FastifyRequest,
  reply: FastifyReply,
  page: OpenedPage,
  largeBodies: LargeBodies,
): void {
  request.openedPage = page;
  const bytes = bodyBytes(request);
  if (bytes <= LARGE_BODY_BYTES || bytes > BODY_BYTES_MAX) return;
  const place = largeBodies.bytes.take(page.opened.orgId, '', bytes);
  if (!place.ok) throw overShare('bytes of request bodies', place);
  reply.raw.once('close', place.leave);
}

export function addPageRoutes(scope: FastifyInstance, url: string, parts: PageScopeParts): void {
  const { clock, largeBodies } = parts;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser<Buffer>(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer', bodyLimit: BODY_BYTES_MAX },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length <= LARGE_BODY_BYTES) return pairsOf(body);
      return largeBodies.parse(request.openedPage?.opened.orgId ?? '', body.length, () => pairsOf(body));
    },
  );
  const config = { schema: { hide: true } };
  scope.route<{ Querystring: { show?: string } }>({
    method: ['GET', 'HEAD'],
    url,
    ...config,
    handler: async (request, reply) => {
      const visit = visitOf(request, parts, clock.wallMs());
      return sendPage(reply, visit === null ? GONE : shownPage(visit, request.query.show));
    },
  });
  scope.post(url, config, async (request, reply) => {
    const visit = visitOf(request, parts, clock.wallMs());
    return sendPage(reply, visit === null ? GONE : await postedPage(visit, (request.body as Posted | undefined) ?? []));
  });
}

function bodyBytes({ headers }: FastifyRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_BYTES_MAX;
}

function visitOf(request: FastifyRequest, { signInPath }: PageScopeParts, nowMs: number): PageVisit | null {
  const page = request.openedPage;
  const question = page?.opened.question ?? null;
  if (page === null || question === null) return null;
  const { opened, secret } = page;
  const from = { ip: clientAddress(request), requestId: request.id };
  return {
    question,
    visitor: opened.visitor,
    secret,
    signInPath: signInPath === null ? null : signInPath(question),
    nowMs,
    answer: (sent) => opened.answer(sent, from),
    delegate: (to) => opened.delegate(to, from),
    again: () => opened.again(),
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

function sendPage(reply: FastifyReply, content: PageContent): FastifyReply {
  const { text, policy } = writePage(content);
  return reply
    .code(content.status)
    .header('content-security-policy', policy)
    .type('text/html; charset=utf-8')
    .send(text);
}

function replyWithError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof CallerRefused) request.refusal = error.reason;
  const known = serviceErrorOf(error, { bytesMax: BODY_BYTES_MAX });
  // The server's own handler logs what the page does not show.
  if (known.code === 'internal') throw error;
  request.errorCode = known.code;
  const { status, headers } = errorBody(known, request.id);
  const { heading, text } = WORDS[known.code] ?? { heading: 'This did not work', text: known.message };
  return sendPage(reply.headers(headers), plainPage(status, heading, text));
}

const WORDS: Readonly<Partial<Record<ServiceError['code'], { heading: string; text: string }>>> = {
  not_found: {
    heading: 'There is no such link',
    text: 'Copy the whole link from the message, or ask for another one.',
  },
  unauthorized: {
    heading: 'You are not signed in any more',
    text: 'Nothing was sent. Open the question again, and sign in.',
  },
  rate_limited: { heading: 'Too many requests', text: 'Wait for a minute, then open the link again.' },
  unavailable: { heading: 'Not reachable just now', text: 'A part of the service is down for a moment. Try again.' },
  too_large: { heading: 'Your answer is too large', text: 'A page has at most 1 MiB. Go back and shorten it.' },
};
